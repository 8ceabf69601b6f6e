import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { ProcessorTime } from "../../../lib/orchestration/records/processor-time.ts";

/** Uses 0.3 s of processor time, prints "done", and waits to be killed. */
const WORKS = `while (process.cpuUsage().user < 3e5); console.log("done"); setInterval(() => {}, 1000)`;

test.runIf(process.platform === "linux")(
  "a child that works is counted, and no process of somebody else",
  async () => {
    const time = new ProcessorTime();
    const child = spawn(process.execPath, ["-e", WORKS], { stdio: ["ignore", "pipe", "ignore"] });
    const pid = child.pid!;
    time.since([pid]); // starts the measurement
    await once(child.stdout, "data");
    const own = process.cpuUsage();
    const others = time.since([pid, 1])!;
    expect(others).toBeGreaterThan(0.1);
    const mine = (process.cpuUsage().user + process.cpuUsage().system - own.user - own.system) / 1e6;
    expect(time.since([pid])!).toBeLessThan(mine + 0.3);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(time.since([pid, 2 ** 30])).toBeUndefined();
    expect(time.since([])).toBeGreaterThanOrEqual(0);
  },
);
