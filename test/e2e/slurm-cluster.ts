import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { patient } from "../patience.ts";
import { freePort } from "../streams/redis/redis-server.ts";

const PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch"] as const;
const missing = PROGRAMS.filter((name) => spawnSync("which", [name]).status !== 0);
/** Why Slurm cannot run on this machine; undefined if it can. */
export const noSlurm =
  missing.length > 0
    ? "no Slurm: apt-get install slurm-wlm munge"
    : process.getuid?.() === 0
      ? undefined
      : "Slurm's daemons are started by root alone";

const execute = promisify(execFile);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A real Slurm for the tests: a controller and nodes n1, n2, ..., all of them this machine. */
export class SlurmCluster implements AsyncDisposable {
  readonly dir = mkdtempSync(join(tmpdir(), "hone-slurm-"));
  readonly #daemons: ChildProcess[] = [];
  readonly #nodes: readonly string[];

  private constructor(nodes: number) {
    this.#nodes = Array.from({ length: nodes }, (_, i) => `n${i + 1}`);
  }

  static async start(nodes = 2): Promise<SlurmCluster> {
    const cluster = new SlurmCluster(nodes);
    try {
      await cluster.#open();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The environment for programs that use this cluster. */
  get environment(): NodeJS.ProcessEnv {
    return { ...process.env, SLURM_CONF: join(this.dir, "slurm.conf") };
  }

  /** Runs a program of Slurm and returns its output. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await execute(program, args, { env: this.environment });
    return stdout.trim();
  }

  /** Submits a job and returns its number. */
  async submit(...args: readonly string[]): Promise<string> {
    return (await this.run("sbatch", "--parsable", ...args)).split(";")[0]!;
  }

  /** The facts about a job as `scontrol show job` lists them. */
  async facts(job: string): Promise<Record<string, string>> {
    const text = await this.run("scontrol", "--oneliner", "show", "job", job);
    return Object.fromEntries(text.split(/\s+/).map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
  }

  /**
   * Waits until the job is in one of the states. A requeued job starts after two seconds instead of Slurm's two
   * minutes; not at once, because within a second of a job's end slurmd takes it for a killed one ("Job credential
   * revoked").
   */
  async reach(job: string, states: readonly string[], timeoutMs: number): Promise<Record<string, string>> {
    let hastened = "0";
    for (const end = performance.now() + timeoutMs; ; await sleep(250)) {
      const facts = await this.facts(job);
      const { JobState: state, Restarts: restarts = "0" } = facts;
      if (states.includes(state!)) return facts;
      if (state === "PENDING" && restarts !== hastened)
        hastened = await this.run("scontrol", "update", `jobid=${job}`, "StartTime=now+2").then(
          () => restarts,
          () => hastened,
        );
      if (performance.now() > end) throw new Error(`job ${job} is ${state}, not ${states}\n${this.log}`);
    }
  }

  get log(): string {
    return readFileSync(join(this.dir, "slurmctld.log"), "utf8").split("\n").slice(-30).join("\n");
  }

  /** The log of a node's daemon. */
  logOf(node: string): string {
    return readFileSync(join(this.dir, `slurmd-${node}.log`), "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // jobs that a failed test left
    const left = await this.run("squeue", "--noheader", "--format=%A").catch(() => "");
    for (const job of left.split("\n").filter(Boolean))
      await this.run("scancel", "--full", "--signal=KILL", job).catch(() => {});
    for (const daemon of this.#daemons.reverse()) {
      if (daemon.exitCode !== null || daemon.signalCode !== null) continue;
      daemon.kill("SIGTERM");
      await Promise.race([once(daemon, "exit"), sleep(5000).then(() => daemon.kill("SIGKILL"))]);
    }
    rmSync(this.dir, { recursive: true, force: true });
  }

  async #open(): Promise<void> {
    const { dir } = this;
    const key = join(dir, "munge.key");
    writeFileSync(key, crypto.getRandomValues(new Uint8Array(128)), { mode: 0o600 });
    const socket = join(dir, "munge.socket");
    const own = ["pid-file", "log-file", "seed-file"].map(
      (name) => `--${name}=${join(dir, `munge.${name}`)}`,
    );
    this.#start("munged", ["--foreground", "--force", `--key-file=${key}`, `--socket=${socket}`, ...own]);
    writeFileSync(join(dir, "slurm.conf"), await configuration(dir, socket, this.#nodes));
    this.#start("slurmctld", ["-D"]);
    for (const name of this.#nodes) this.#start("slurmd", ["-D", "-N", name]);
    const wanted = String(this.#nodes.length);
    for (const end = performance.now() + patient(30_000); performance.now() < end; await sleep(200)) {
      const idle = await this.run("sinfo", "-h", "-t", "idle", "-o", "%D").catch(() => "");
      if (idle === wanted) return;
    }
    throw new Error(`Slurm's nodes were not up in time\n${this.log}`);
  }

  #start(program: string, args: readonly string[]): void {
    this.#daemons.push(spawn(program, args, { stdio: "ignore", env: this.environment }));
  }
}

async function configuration(dir: string, socket: string, names: readonly string[]): Promise<string> {
  const controller = await freePort();
  const ports = await Promise.all(names.map(freePort));
  const node = `NodeHostname=${hostname()} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000`;
  return `
ClusterName=hone
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${controller}
SlurmctldParameters=enable_configless
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${socket}
CryptoType=crypto/munge
StateSaveLocation=${dir}/state
SlurmdSpoolDir=${dir}/spool-%n
SlurmctldPidFile=${dir}/slurmctld.pid
SlurmdPidFile=${dir}/slurmd-%n.pid
SlurmctldLogFile=${dir}/slurmctld.log
SlurmdLogFile=${dir}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SchedulerParameters=sched_min_interval=100000,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
CommunicationParameters=NoAddrCache
KillWait=5
MinJobAge=600
JobRequeue=1
${names.map((name, i) => `NodeName=${name} ${node} Port=${ports[i]}`).join("\n")}
PartitionName=all Nodes=${names} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
`;
}
