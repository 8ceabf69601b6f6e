import { HoneError } from "../errors.ts";

/** Data of every job file. */
export interface Job {
  /** Name of the run and of the job. */
  readonly name: string;
  readonly nodes: number;
  /** GPUs to request per node; 0: none. */
  readonly gpusPerNode: number;
  /** Beginning of the command on a node: "node", "/opt/hone/main.js". */
  readonly hone: readonly string[];
  /** Arguments after `agent`: the recipe and its options. */
  readonly agent: readonly string[];
  /** Run folder, as every node sees it. */
  readonly dir: string;
  /** Address of an existing store; without it the job starts its own server. */
  readonly store?: string;
  /** Time agents have to save after SIGTERM. */
  readonly graceSeconds: number;
  /** Maximum number of restarts of the job. */
  readonly maxRestarts: number;
}

/** A file to be submitted, and how. */
export interface JobFile {
  readonly text: string;
  /** Commands that submit the job, in order. @param path of the job file */
  readonly submit: (path: string) => readonly string[];
}

/** Checks a name that both Kubernetes and Slurm accept. Throws HONE_ERR_USAGE. */
export function expectName(name: string): void {
  if (/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/.test(name)) return;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `the job's name is ${JSON.stringify(name)}; it must be up to 40 lower-case letters, digits and hyphens`,
    { hint: "Give another: --name my-run." },
  );
}

/** Quotes any text as one word of a shell. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Joins words into a shell command. */
export const command = (words: readonly string[]): string => words.map(quoted).join(" ");

/**
 * Shell lines that start the job's own server in the run folder, and set the variables by which agents find
 * it. @param address a shell expression
 */
export function ownStore(dir: string, address: string, port: string): string {
  return `
# A Redis server for this job, on its first node. Only who may read the run folder has its password; a few seconds of what
# it holds may be lost with the node: a run that goes on takes nothing from before.
store=${quoted(`${dir}/store`)}
mkdir -p "$store" && chmod 700 "$store"
[ -s "$store/password" ] || (umask 077; head -c 32 /dev/urandom | base64 | tr -dc 'A-Za-z0-9' >"$store/password")
redis-server - >"$store/redis.log" 2>&1 <<END &
bind ${address}
port ${port}
dir $store
requirepass $(cat "$store/password")
appendonly yes
save ""
maxmemory-policy noeviction
END
server=$!
trap 'kill "$server" 2>/dev/null' EXIT
# one that is not installed, or whose port is taken, ends at once: no agent has to wait for it
sleep 1
if ! kill -0 "$server" 2>/dev/null; then
  echo "redis-server does not start on $(uname -n), port ${port}:" >&2
  tail -n 3 "$store/redis.log" >&2
  exit 78
fi
export HONE_STORE="redis://${address}:${port}" HONE_REDIS_PASSWORD_FILE="$store/password"
`;
}
