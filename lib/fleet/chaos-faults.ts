import { philox4x32 } from "../random.ts";
import type { Fault } from "./faults.ts";

export interface ChaosShape {
  readonly seed: number;
  readonly seconds: number;
  readonly actors: number;
  readonly trainers: number;
  /** Verifier hosts. Default 0: the run's own pool judges. */
  readonly verifiers?: number | undefined;
  /** True if faults may kill the store's server. */
  readonly redis: boolean;
}

/** Between two faults: so long at least, and so much more at most. A process needs seconds to be there again. */
const PAUSE_MS = { least: 2500, more: 5000 };
const STOP_MS = { least: 500, more: 11_500 };
const LONGEST_OUTAGE_MS = 2000;

/** Faults of a seed: the same for the same seed and shape. Times are from the first step. */
export function drawFaults(shape: ChaosShape): Fault[] {
  const faults: Fault[] = [];
  let ms = 0;
  for (let i = 0; ; i++) {
    const [pause, ...rest] = philox4x32([i, 0, 0, 0], [shape.seed, 0]).map((word) => word / 2 ** 32);
    ms += Math.round(PAUSE_MS.least + PAUSE_MS.more * pause!);
    if (ms >= 1000 * shape.seconds) return faults;
    faults.push(drawFault(shape, ms, rest as [number, number, number]));
  }
}

/** Half of them meet actors; trainers, the server and those that judge share the rest. */
function drawFault(shape: ChaosShape, ms: number, [who, which, how]: [number, number, number]): Fault {
  const { actors, trainers, verifiers = 0, redis } = shape;
  const at = { ms };
  if (redis && who < 0.15) return { role: "redis", at, stopMs: Math.round(LONGEST_OUTAGE_MS * how) };
  if (who < 0.25) return { role: "verifier", rank: Math.floor(which * verifiers), at, signal: "SIGKILL" };
  const role = who < 0.5 && trainers > 0 ? "trainer" : "actor";
  const rank = Math.floor(which * (role === "actor" ? actors : trainers));
  if (how < 0.7) return { role, rank, at, signal: "SIGKILL" };
  return {
    role,
    rank,
    at,
    signal: "SIGSTOP",
    stopMs: Math.round(STOP_MS.least + (STOP_MS.more * (how - 0.7)) / 0.3),
  };
}
