import { readdirSync, readFileSync } from "node:fs";

/**
 * Sends a signal; after SIGSTOP, returns when no thread of the process runs any more. That begins when the one that the signal
 * wakes has a processor, on a busy machine many milliseconds later: until then the others go on, and may take what they
 * hold from then on, such as the right to write in a file.
 */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  process.kill(pid, signal);
  if (signal !== "SIGSTOP") return;
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!isStopped(pid)) Atomics.wait(nothing, 0, 0, 1);
}

/** Whether each of its threads is stopped, or over. Source: Linux, proc_pid_stat(5). */
function isStopped(pid: number): boolean {
  const folder = `/proc/${pid}/task`;
  const states = readdirSync(folder).map((thread) => {
    try {
      return /\) (\S)/.exec(readFileSync(`${folder}/${thread}/stat`, "utf8"))![1]!;
    } catch {
      return "X"; // it ended meanwhile
    }
  });
  return states.every((state) => "TtZX".includes(state));
}
