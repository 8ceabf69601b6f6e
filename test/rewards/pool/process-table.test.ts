import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { ProcessTable } from "../../../lib/rewards/pool/process-table.ts";

// Deliberate faults (mutants) that these tests detect: the closing flag is not checked after the start, a start that
// throws keeps its slot.

const sleeper = (leave: () => void) => {
  const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  child.once("exit", leave);
  return { pid: child.pid!, child };
};
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("who closes ends every process listed, in whichever thread's memory, and waits for them", async () => {
  const mine = new ProcessTable(3);
  const theirs = new ProcessTable(mine.buffer);
  const started = [mine, theirs, mine].map((processes) => processes.add(sleeper)!);
  expect(started.map(({ pid }) => isAlive(pid))).toEqual([true, true, true]);
  await mine.close();
  expect(started.map(({ child }) => child.signalCode)).toEqual(["SIGKILL", "SIGKILL", "SIGKILL"]);
});

test("nothing is started once it is closing; what starts at that moment is ended", async () => {
  const processes = new ProcessTable(1);
  let late: ReturnType<typeof sleeper> | undefined;
  let closed: Promise<void> | undefined;
  processes.add((leave) => {
    closed = processes.close();
    late = sleeper(leave);
    return late;
  });
  await closed;
  expect(late!.child.signalCode).toBe("SIGKILL");
  expect(processes.add(sleeper)).toBeUndefined();
});

test("a start that fails, and a process that has ended, leave room", () => {
  const processes = new ProcessTable(1);
  const failing = () =>
    processes.add(() => {
      throw new Error("no process to be had");
    });
  expect(failing).toThrow("no process to be had");
  expect(failing).toThrow("no process to be had");
  let leave = () => {};
  const held = processes.add((end) => {
    leave = end;
    return { pid: 0 };
  });
  expect(held).toEqual({ pid: 0 });
  expect(() => processes.add(() => ({ pid: 0 }))).toThrow(RangeError);
  leave();
  expect(processes.add(() => ({ pid: 0 }))).toEqual({ pid: 0 });
});
