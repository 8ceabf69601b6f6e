import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** The least patience: a machine that is idle now may be busy in the middle of a file. */
const AT_LEAST = 2;

/**
 * How many times as long things may take now as on a machine with nothing else to do: the processes that want to run,
 * now or over the last minutes, for each core. HONE_TEST_PATIENCE=N takes N.
 * @param loadavg /proc/loadavg: averages over 1, 5 and 15 minutes, then "running/all"
 */
export function slowdown(
  loadavg = readFileSync("/proc/loadavg", "utf8"),
  cores = availableParallelism(),
  given = process.env["HONE_TEST_PATIENCE"],
): number {
  if (given) return Number(given);
  const [one, five, , running] = loadavg.split(" ");
  const load = Math.max(Number(one), Number(five), Number.parseInt(running!, 10));
  return Math.max(AT_LEAST, 1.5 * Math.ceil(load / cores));
}

/** A limit in milliseconds, for a machine as busy as this one is now. */
export function patient(quietMs: number): number {
  return quietMs * slowdown();
}
