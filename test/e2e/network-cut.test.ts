// The network between a run's two nodes is cut for good: exactly one side continues, with the weights of an undisturbed
// run.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart, weightsAfter } from "../fixtures/small-quickstart.ts";
import { longest, soak } from "../long.ts";
import { patient } from "../patience.ts";
import { freePort, noRedis } from "../streams/redis/redis-server.ts";
import { noMachines, TwoMachines } from "./two-machines.ts";

/** More steps than a run reaches before the test ends it. */
const STEPS = 20_000;
/** The coordinator trains; each node has an actor. A step's weights do not depend on the number of steps. */
const settings = (steps: number) => [...smallQuickstart(steps), "optimizer.schedule=constant"];
const TOGETHER = ["hardware.processes.actors=2", "hardware.processes.trainers=0"];
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

function start(
  command: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(command[0]!, command.slice(1), { cwd: ROOT, env: { ...process.env, ...env } });
  let said = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (part) => {
      said += String(part);
    });
  return { child, ended: once(child, "close").then(([code]) => ({ code, said })) };
}

describe.skipIf(!(longest || soak) || noMachines !== undefined || noRedis !== undefined)(
  "a cable between two nodes is cut",
  () => {
    let dir: string;
    let machines: TwoMachines;
    let store: string;
    beforeEach(async () => {
      dir = mkdtempSync(join(tmpdir(), "hone-cut-"));
      machines = new TwoMachines();
      const port = await freePort();
      const kept = ["--appendonly", "yes", "--save", "", "--dir", dir];
      const open = ["--bind", machines.address("a"), "--protected-mode", "no", "--port", String(port)];
      const server = start([...machines.on("a"), "redis-server", ...open, ...kept]).child;
      for await (const part of server.stdout!) if (String(part).includes("Ready to accept")) break;
      server.stdout!.resume();
      store = `redis://${machines.address("a")}:${port}`;
    });
    afterEach(() => {
      machines[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    });

    const at = () => join(dir, "run");
    /** @param node 0 runs the coordinator */
    const agent = (machine: "a" | "b", node: 0 | 1) => {
      const hone = [process.execPath, ...HONE, "agent", QUICKSTART, "--dir", at(), "--store", store];
      const command = [...machines.on(machine), ...hone, ...asWords([...settings(STEPS), ...TOGETHER])];
      return start(command, { HONE_NODES: "2", JOB_COMPLETION_INDEX: String(node) });
    };
    const expectUndisturbed = async (step: number) => {
      const one = [process.execPath, ...HONE, "run", QUICKSTART, "--dir", join(dir, "one")];
      expect(await start([...one, ...asWords(settings(step))]).ended).toMatchObject({ code: 0 });
      expect(weightsAfter(at(), step)).toBe(weightsAfter(join(dir, "one"), step));
    };
    const lastStep = () => {
      const folder = join(at(), "checkpoints");
      const names = existsSync(folder) ? readdirSync(folder) : [];
      return Math.max(0, ...names.map((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? 0)));
    };
    /** Waits for a step. @param by the process that must not end before */
    const reach = async (step: number, by: { child: ChildProcess; ended: Promise<Ended> }) => {
      while (lastStep() < step) {
        if (by.child.exitCode !== null) throw new Error((await by.ended).said.slice(-3000));
        await sleep(50);
      }
    };

    test(
      "the side of the store and the coordinator goes on; the other is fenced, and ends",
      async () => {
        const [first, second] = [agent("a", 0), agent("b", 1)];
        await reach(2, first);
        machines.cut();
        const there = await second.ended;
        expect(there, there.said).toMatchObject({ code: 75 });
        expect(machines.processes("b")).toEqual([]);
        expect(readFileSync(join(at(), "logs/node-1/actor-1.log"), "utf8")).toContain("out of touch");
        await reach(lastStep() + 2, first);
        first.child.kill("SIGTERM");
        const here = await first.ended;
        expect(here, here.said).toMatchObject({ code: 75 }); // saved
        await expectUndisturbed(lastStep());
      },
      patient(180_000),
    );

    test(
      "a coordinator without its store ends; started again beside the store it goes on, and nothing is lost",
      async () => {
        const [first, second] = [agent("b", 0), agent("a", 1)];
        await reach(2, first);
        machines.cut();
        const there = await first.ended;
        expect(there, there.said).toMatchObject({ code: 75 });
        expect(machines.processes("b")).toEqual([]);
        const before = lastStep();
        second.child.kill("SIGTERM");
        expect((await second.ended).code).toBe(75);
        const here = agent("a", 0); // starts an agent on the remaining node, as a launcher would
        const last = agent("a", 1);
        await reach(before + 2, here);
        here.child.kill("SIGTERM");
        expect((await here.ended).code).toBe(75);
        expect((await last.ended).code).toBe(75);
        await expectUndisturbed(lastStep());
      },
      patient(240_000),
    );
  },
);
