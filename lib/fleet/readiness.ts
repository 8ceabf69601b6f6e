import { HoneError } from "../errors.ts";
import type { StreamStore } from "../streams/index.ts";
import { REGISTERS, type Role } from "./names.ts";
import type { RankStatus } from "./rank-heartbeat.ts";
import type { Roster } from "./roster.ts";

/** A process that fills its place and has a heartbeat. */
export interface ReadyProcess {
  readonly role: Role;
  readonly rank: number;
  /** Generation of the process in its place, or epoch of the ranks. */
  readonly epoch: number;
  /** Address, or name, of its machine. */
  readonly host: string;
  readonly pid: number;
}

/**
 * Processes that are ready: actors and verifier hosts by their heartbeat, the trainer's ranks by theirs, which begins
 * when all ranks are connected.
 */
export async function readyProcesses(store: StreamStore, roster: Roster): Promise<ReadyProcess[]> {
  await roster.look();
  const trainers = await formedRanks(store);
  const members = [...roster.alive, ...roster.hosts].map(({ place, index, member, host, pid }) => {
    const role = place.split(".")[0] as Role;
    return { role, rank: index, epoch: Number(member.split("#")[1]), host, pid };
  });
  const ranks = trainers.map(({ rank, epoch, host, pid }) => {
    return { role: "trainer" as const, rank, epoch, host, pid };
  });
  return [...ranks, ...members];
}

/** Ranks of the current epoch that have published a status, in rank order. */
export async function formedRanks({ kv }: StreamStore): Promise<RankStatus[]> {
  const [heartbeats, current] = await Promise.all([kv.list(REGISTERS.heartbeats), kv.get(REGISTERS.epoch)]);
  const words = [...heartbeats.values()].map((text) => JSON.parse(text) as RankStatus);
  return words.filter(({ epoch }) => String(epoch) === current).sort((a, b) => a.rank - b.rank);
}

/**
 * Waits until every wanted process is ready and returns them. Throws HONE_ERR_COLLECTIVE naming those missing in time.
 * @param look returns the processes that are ready now
 * @param wanted places, "actor.0"
 */
export async function awaitReadiness(
  look: () => Promise<readonly ReadyProcess[]>,
  wanted: readonly string[],
  waitMs: number,
): Promise<readonly ReadyProcess[]> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const present = await look();
    const names = new Set(present.map(({ role, rank }) => `${role}.${rank}`));
    const missing = wanted.filter((name) => !names.has(name));
    if (missing.length === 0) return present;
    if (performance.now() > deadline)
      throw new HoneError(
        "HONE_ERR_COLLECTIVE",
        `${missing.join(", ")} of ${wanted.length} processes were not there within ${Math.round(waitMs / 1000)} s`,
        { hint: "What they said is in logs/ of the run folder; those of a node come with its agent." },
      );
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const LOOK_MS = 200;
