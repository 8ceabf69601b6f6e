import { readdirSync, readFileSync } from "node:fs";

/**
 * Sends a signal; after SIGSTOP, returns when no thread of the process runs. The process stops only when the thread
 * that the signal wakes gets a processor, on a busy machine many milliseconds later. Until then its other threads
 * run, and may take a lock that they then hold while stopped.
 */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  process.kill(pid, signal);
  if (signal !== "SIGSTOP") return;
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!isStopped(pid)) Atomics.wait(nothing, 0, 0, 1);
}

/** True if each thread of the process is stopped or has ended. Source: Linux, proc_pid_stat(5). */
function isStopped(pid: number): boolean {
  const folder = `/proc/${pid}/task`;
  const states = readdirSync(folder).map((thread) => {
    try {
      return /\) (\S)/.exec(readFileSync(`${folder}/${thread}/stat`, "utf8"))![1]!;
    } catch {
      return "X"; // the thread has ended in the meantime
    }
  });
  return states.every((state) => "TtZX".includes(state));
}
