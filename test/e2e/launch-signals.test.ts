// Tests job files under the real launchers. A stand-in for the agent ends as the test says.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mpirunFile, slurmFile } from "../../lib/launch/index.ts";
import { jobOf } from "../launch/jobs.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { noMpirun } from "./mpirun-nodes.ts";
import { noSlurm, SlurmCluster } from "./slurm-cluster.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-signals-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/**
 * Writes an agent. Once rank 0 has started, rank 1 ends attempt i with `ends[i]`; "wait" waits for SIGTERM. After
 * SIGTERM a rank saves for a while.
 */
function agentOf(name: string, ends: readonly string[]) {
  const [path, log] = [join(dir, `${name}-agent.sh`), join(dir, `${name}.log`)];
  writeFileSync(
    path,
    `#!/bin/bash
rank=\${SLURM_PROCID:-$OMPI_COMM_WORLD_RANK}
attempt=\${SLURM_RESTART_COUNT:-\${HONE_RESTARTS:-0}}
say() { echo "$attempt.$rank $1" >>${log}; }
trap 'sleep 0.4; say saved; exit 75' TERM
say "begins as $HONE_RUN_ID"
ends=(${ends.join(" ")})
if [ "$rank" = 1 ]; then
  until grep -q "^$attempt.0 begins" ${log}; do sleep 0.1; done
  case "\${ends[$attempt]}" in
    wait) ;;
    kill) kill -9 $$ ;;
    *) exit "\${ends[$attempt]}" ;;
  esac
fi
for _ in $(seq 600); do sleep 0.1; done
`,
  );
  chmodSync(path, 0o755);
  const lines = () => (existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : []);
  const saw = async (line: RegExp) => {
    while (!lines().some((each) => line.test(each))) await new Promise((resolve) => setTimeout(resolve, 100));
  };
  return { path, lines, saw };
}

const job = (agent: string) =>
  jobOf({
    name: "signals",
    nodes: 2,
    gpusPerNode: 0,
    hone: [agent],
    agent: [],
    dir,
    store: "redis://x",
    graceSeconds: 4,
  });

function script(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

describe.skipIf(noSlurm !== undefined)("under Slurm", () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await SlurmCluster.start();
  });
  afterAll(() => slurm?.[Symbol.asyncDispose]());

  test.runIf(longest)("75 is requeued, with time to save; 78 is the end", async () => {
    const agent = agentOf("slurm", ["75", "78"]);
    const id = await slurm.submit(script("signals.sbatch", slurmFile(job(agent.path)).text));
    const end = await slurm.reach(id, ["FAILED", "COMPLETED", "CANCELLED"], patient(60_000));
    expect(end).toMatchObject({ JobState: "FAILED", Restarts: "1", ExitCode: "78:0" });
    expect(agent.lines()).toEqual(expect.arrayContaining(["0.0 saved", `1.1 begins as signals-${id}`]));
  });

  test("a job that is cancelled stays cancelled, and its agents save", async () => {
    const agent = agentOf("cancelled", ["wait"]);
    const id = await slurm.submit(script("cancelled.sbatch", slurmFile(job(agent.path)).text));
    await agent.saw(/^0\.1 begins/);
    await slurm.run("scancel", id);
    await agent.saw(/^0\.1 saved/);
    expect(await slurm.reach(id, ["CANCELLED"], patient(20_000))).toMatchObject({ Restarts: "0" });
  });
});

describe.skipIf(noMpirun !== undefined)("under mpirun", () => {
  const start = (name: string, agent: string) => {
    const extra = ["--allow-run-as-root", "--oversubscribe", "--map-by", "slot"];
    const { text } = mpirunFile(job(agent), { extra });
    // both agents run on this machine, the only node
    const path = script(
      `${name}.sh`,
      text.replace("--map-by ppr:1:node ", "").replace("sleep 5", "sleep 0.1"),
    );
    const child = spawn("bash", [path], { stdio: "ignore" });
    return { child, ended: once(child, "exit") };
  };

  test.runIf(longest)("a killed agent begins again, 78 is the end", async () => {
    const agent = agentOf("mpirun", ["kill", "78"]);
    const [code] = await start("mpirun", agent.path).ended;
    expect(code).toBe(78);
    expect(agent.lines()).toEqual(expect.arrayContaining(["0.0 saved"]));
    expect(agent.lines().filter((line) => line.startsWith("1.1 begins"))).toHaveLength(1);
  });

  test.runIf(longest)("SIGTERM lets the agents save, and nothing begins again", async () => {
    const agent = agentOf("terminated", ["wait"]);
    const { child, ended } = start("terminated", agent.path);
    for (const begun of [/^0\.0 begins/, /^0\.1 begins/]) await agent.saw(begun);
    child.kill("SIGTERM");
    expect((await ended)[0]).toBe(75);
    expect(agent.lines()).toEqual(expect.arrayContaining(["0.0 saved", "0.1 saved"]));
    expect(agent.lines().some((line) => line.startsWith("1."))).toBe(false);
  });
});
