import { HoneError } from "../errors.ts";
import type { StreamStore } from "../streams/index.ts";
import { REGISTERS, type Role } from "./names.ts";
import type { RankStatus } from "./rank-heartbeat.ts";
import type { Roster } from "./roster.ts";

/** A process of a run that has its place and gives signs of life. */
export interface ReadyProcess {
  readonly role: Role;
  readonly rank: number;
  /** Which process of its place, or epoch of the ranks, it is. */
  readonly epoch: number;
  /** Address, or name, of its machine. */
  readonly host: string;
  readonly pid: number;
}

/**
 * Who has a place and says so: actors and verifier hosts by their signs of life, ranks of the trainer by theirs, which they
 * give when all of them are connected.
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
 * @param look who is there now
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
