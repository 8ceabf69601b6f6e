import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** The lowest factor: an idle machine may become busy while a file runs. */
const AT_LEAST = 2;

/**
 * Returns how much longer things may take than on an idle machine: the number of processes that want to run, now or
 * over the last minutes, per core. HONE_TEST_PATIENCE=N overrides it.
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

/** Scales a limit in milliseconds to the machine's present load. */
export function patient(quietMs: number): number {
  return quietMs * slowdown();
}
