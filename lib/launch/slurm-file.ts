import { HoneError } from "../errors.ts";
import { PROCESS_EXIT } from "../fleet/environment.ts";
import { command, expectName, type Job, type JobFile, ownStore, quoted } from "./job.ts";

export interface SlurmOptions {
  /** Time limit of the job in Slurm's format, such as "24:00:00". */
  readonly time?: string;
  readonly partition?: string;
  readonly account?: string;
}

/** Format of sbatch(1), --time. */
const TIME = /^(?:\d+(?::\d+){0,2}|\d+-\d+(?::\d+){0,2}|infinite|unlimited)$/i;

/**
 * A batch script: one agent per node, restarted after exit code 75. Throws HONE_ERR_USAGE for a name or time that
 * Slurm would refuse.
 */
export function slurmFile(job: Job, options: SlurmOptions = {}): JobFile {
  expectName(job.name);
  const { time } = options;
  if (time !== undefined && !TIME.test(time))
    throw new HoneError(
      "HONE_ERR_USAGE",
      `--time is ${JSON.stringify(time)}, not a time as Slurm writes it`,
      {
        hint: "Such as 90 (minutes), 24:00:00, 2-12 (days and hours), or infinite.",
      },
    );
  return {
    text: `${head(job, options)}${rendezvous(job)}${step(job)}${ending(job)}`,
    // Slurm discards the log if its folder does not exist
    submit: (path) => [`mkdir -p ${quoted(job.dir)}`, `sbatch ${quoted(path)}`],
  };
}

function head({ name, nodes, gpusPerNode, dir, graceSeconds }: Job, options: SlurmOptions): string {
  const { time, partition, account } = options;
  const asked = (flag: string, value: string | undefined) =>
    value === undefined ? [] : [`#SBATCH --${flag}=${value}`];
  return [
    "#!/bin/bash",
    `#SBATCH --job-name=${name}`,
    `#SBATCH --nodes=${nodes}`,
    "# one agent a node, which starts the node's processes itself",
    "#SBATCH --ntasks-per-node=1",
    ...(gpusPerNode > 0 ? [`#SBATCH --gres=gpu:${gpusPerNode}`] : []),
    "#SBATCH --exclusive",
    ...asked("time", time),
    ...asked("partition", partition),
    ...asked("account", account),
    "# after a node's failure Slurm itself starts the job again; so does the end of this script",
    "#SBATCH --requeue",
    "#SBATCH --open-mode=append",
    `#SBATCH --output=${dir}/slurm-%j.log`,
    `# so long before the time is over this script hears of it; B: the script alone, not the agents`,
    `#SBATCH --signal=B:TERM@${graceSeconds}`,
    "",
  ].join("\n");
}

function rendezvous({ dir, name, store }: Job): string {
  const own = ownStore(dir, "$MASTER_ADDR", "$MASTER_PORT");
  return `
# the same for every attempt of this job: agents find each other by it, and the checkpoints in the run folder
export HONE_RUN_ID="\${HONE_RUN_ID:-${name}-$SLURM_JOB_ID}"
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
# the address that Slurm itself talks to; the node's name need not be known to a resolver
export MASTER_ADDR=$(scontrol --oneliner show node "$first" | sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p')
# jobs that share the node have ports of their own
export MASTER_PORT="\${MASTER_PORT:-$((20000 + SLURM_JOB_ID % 10000))}"
${store === undefined ? own : `export HONE_STORE=${quoted(store)}\n`}`;
}

function step({ hone, agent }: Job): string {
  return `
# --kill-on-bad-exit: an agent that leaves with 75 or is killed takes the others with it, by SIGTERM, upon which they save
srun --kill-on-bad-exit=1 ${command([...hone, "agent", ...agent])} &
step=$!
# srun that gets SIGTERM kills the agents before they have saved; scancel sends it to them
trap 'scancel --signal=TERM "$SLURM_JOB_ID.0"' TERM
wait "$step"; code=$?
# the trap interrupts wait
while kill -0 "$step" 2>/dev/null; do wait "$step"; code=$?; done
`;
}

/**
 * An exit code above 128, such as 137, means that an agent was killed: by the kernel because memory ran out, or with
 * its node.
 */
function ending({ maxRestarts }: Job): string {
  const { restart, config } = PROCESS_EXIT;
  return `
# ${restart}: saved, start again. Above 128: killed, perhaps for want of memory; start again. ${config}: the same would happen again.
if { [ "$code" -eq ${restart} ] || [ "$code" -gt 128 ]; } && [ "\${SLURM_RESTART_COUNT:-0}" -lt ${maxRestarts} ]; then
  # a job that was cancelled stays cancelled
  if [ "$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%T)" = RUNNING ]; then
    scontrol requeue "$SLURM_JOB_ID"
    sleep 60 # until Slurm ends this script
  fi
fi
exit "$code"
`;
}
