import type { PipelineStatus } from "../metrics/index.ts";
import { openStore } from "../streams/index.ts";
import { SETTINGS } from "./names.ts";
import { type MemberStatus, Roster } from "./roster.ts";

/**
 * Actors and verifier hosts that give signs of life in a run's store, whether its coordinator does or not. Rejects with what the store says:
 * StreamError "lost" where it does not know the run, HONE_ERR_IO where it cannot be reached.
 */
export async function liveMembers({
  address,
  run,
}: NonNullable<PipelineStatus["store"]>): Promise<readonly MemberStatus[]> {
  await using store = await openStore(address, { run, mustExist: true });
  const roster = new Roster(store, SETTINGS);
  await roster.look();
  return [...roster.alive, ...roster.hosts];
}
