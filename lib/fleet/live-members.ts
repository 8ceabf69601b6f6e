import type { PipelineStatus } from "../metrics/index.ts";
import { openStore } from "../streams/index.ts";
import { SETTINGS } from "./names.ts";
import { type MemberStatus, Roster } from "./roster.ts";

/**
 * Actors and verifier hosts with a heartbeat in a run's store, whether or not its coordinator is alive. Rejects with
 * the store's error: StreamError "lost" where it does not know the run, HONE_ERR_IO where it cannot be reached.
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
