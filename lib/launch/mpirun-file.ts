import { PROCESS_EXIT } from "../fleet/environment.ts";
import { command, expectName, type Job, type JobFile, ownStore, quoted } from "./job.ts";

export interface MpirunOptions {
  /** File of hosts, one per line; without it mpirun asks the scheduler that it runs under. */
  readonly hostfile?: string;
  /** Further arguments for mpirun. */
  readonly extra?: readonly string[];
}

/** Variables that mpirun has to carry to other nodes. */
const CARRIED = [
  "HONE_RUN_ID",
  "HONE_STORE",
  "HONE_RESTARTS",
  "HONE_LAUNCH",
  "HONE_REDIS_PASSWORD_FILE",
  "MASTER_ADDR",
  "MASTER_PORT",
];

/**
 * A script that starts one agent per node with Open MPI's mpirun and restarts it after exit code 75, which mpirun
 * itself does not do.
 */
export function mpirunFile(job: Job, options: MpirunOptions = {}): JobFile {
  expectName(job.name);
  return {
    text: `${head(job)}${attempts(job, options)}`,
    submit: (path) => [`bash ${quoted(path)}`],
  };
}

function head({ dir, name, store }: Job): string {
  return `#!/bin/bash
# Runs on the first node, in a terminal or under a scheduler. Hone's processes do not speak MPI: mpirun only starts them.
export HONE_RUN_ID="\${HONE_RUN_ID:-${name}-$(date +%s)-$$}"
# an address of this machine that the others reach
export MASTER_ADDR="\${MASTER_ADDR:-$(hostname -f)}" MASTER_PORT="\${MASTER_PORT:-$((20000 + $$ % 10000))}"
${store === undefined ? ownStore(dir, "$MASTER_ADDR", "$MASTER_PORT") : `export HONE_STORE=${quoted(store)}\n`}`;
}

function attempts(job: Job, { hostfile, extra = [] }: MpirunOptions): string {
  const { nodes, graceSeconds, maxRestarts, hone, agent } = job;
  const { restart, config } = PROCESS_EXIT;
  const hosts = hostfile === undefined ? [] : ["--hostfile", hostfile];
  const mca = ["--mca", "odls_base_sigkill_timeout", String(graceSeconds)];
  const words = ["-np", String(nodes), "--map-by", "ppr:1:node", ...mca, ...hosts, ...extra];
  const carried = CARRIED.flatMap((name) => ["-x", name]);
  return `
export HONE_RESTARTS=0 HONE_REDIS_PASSWORD_FILE="\${HONE_REDIS_PASSWORD_FILE:-}"
stopped=
launch="$(date +%s)-$(hostname)-$$"
while :; do
  # by it an agent that comes late knows that its coordinator has ended, and not that of the attempt before
  export HONE_LAUNCH="$launch-$HONE_RESTARTS"
  # ppr:1:node: one agent a node, which starts the node's processes itself
  # odls_base_sigkill_timeout: so many seconds have agents to save after SIGTERM, instead of one; mpirun waits all of them
  mpirun ${command(words)} ${command(carried)} \\
    ${command([...hone, "agent", ...agent])} &
  step=$!
  # told to end: the agents save, and nothing starts again
  trap 'stopped=yes; kill -TERM "$step"' TERM INT
  wait "$step"; code=$?
  # the trap interrupts wait
  while kill -0 "$step" 2>/dev/null; do wait "$step"; code=$?; done
  [ -n "$stopped" ] && exit ${restart}
  # ${restart}: saved, start again. Above 128: killed; start again. ${config}: the same would happen again.
  if [ "$code" -ne ${restart} ] && [ "$code" -le 128 ]; then exit "$code"; fi
  [ "$HONE_RESTARTS" -ge ${maxRestarts} ] && exit "$code"
  HONE_RESTARTS=$((HONE_RESTARTS + 1))
  sleep 5
done
`;
}
