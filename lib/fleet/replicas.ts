import { HoneError } from "../errors.ts";
import type { KeyValues, StreamStore } from "../streams/index.ts";
import { type FleetSettings, memberName, type PlaceName, REGISTERS, type Role } from "./names.ts";
import type { Roster } from "./roster.ts";
import type { LastEnd, Supervisor } from "./supervisor.ts";

/**
 * Number of the next process in a place. The one before is fenced from here on and its leases are released at once.
 * Each released lease counts as a delivery, unless the process was killed from outside, which is not its work's fault.
 * Throws HONE_ERR_STATE if another agent fills the place too.
 */
export async function nextGeneration(
  store: Pick<StreamStore, "kv" | "free">,
  place: PlaceName,
  last: LastEnd = "failed",
): Promise<number> {
  const { kv } = store;
  const register = REGISTERS.generation(place);
  const before = await kv.get(register);
  const next = Number(before ?? 0) + 1;
  if (!(await kv.cas(register, before ?? null, String(next))))
    throw new HoneError("HONE_ERR_STATE", `${place}: another process has taken epoch ${next}`, {
      hint: "Two agents have the same number: each node needs its own.",
    });
  if (before === undefined) return next;
  await Promise.all([
    store.free(register, last === "killed" ? "retry" : "lost"),
    kv.delete(REGISTERS.beat(place), memberName(place, next - 1)),
  ]);
  return next;
}

/** Reserves ranks for processes of a role that join a run. @param begun number of processes that the run began with */
export async function joiningRanks(
  kv: KeyValues,
  role: Exclude<Role, "trainer">,
  begun: number,
  count: number,
): Promise<number[]> {
  const register = REGISTERS.joined(role);
  for (;;) {
    const before = await kv.get(register);
    const first = begun + Number(before ?? 0);
    if (await kv.cas(register, before ?? null, String(Number(before ?? 0) + count)))
      return Array.from({ length: count }, (_, i) => first + i);
  }
}

/** Ends processes that live and say nothing any more, or never did: stopped, or hanging. */
export function endSilent(
  supervisor: Supervisor,
  roster: Roster,
  { beginMs }: Pick<FleetSettings, "beginMs">,
): void {
  for (const { role, rank, epoch, startedMs } of supervisor.statuses) {
    if (role === "trainer") continue; // RankWatch looks after them
    const member = memberName(`${role}.${rank}`, epoch);
    const neverBegan = !roster.wasSeen(member) && performance.now() - startedMs > beginMs;
    if (neverBegan || roster.wasLost(member)) supervisor.endHung(role, rank);
  }
}
