/**
 * Stands in for `hone run --agents`: coordinator.ts <exit code | "wait"> <file>. It takes its placement, and exits
 * with that code once the file exists, or with "wait" once an agent stops it.
 */
import { existsSync, writeSync } from "node:fs";
import { openFleet, Rendezvous, sessionRun } from "../../lib/fleet/index.ts";
import { info } from "../../lib/native/index.ts";

const [how, seen] = process.argv.slice(2) as [string, string];
const { HONE_STORE: url, HONE_RUN_ID: runId } = process.env as Record<string, string>;
const { openStore } = await import("../../lib/streams/index.ts");

await using rendezvous = await Rendezvous.open(url!, runId!);
const session = await rendezvous.sit();
await using store = await openStore(url!, { run: sessionRun(runId!, session) });
const openTrainer = () => {
  throw new Error("nobody trains here");
};
await using _fleet = await openFleet({ store, info, openTrainer });
await rendezvous.acquireLeadership(session);
const kept = rendezvous.keep(session, () => {});
writeSync(1, "sits\n");
if (how === "wait") await new Promise((resolve) => process.once("SIGTERM", resolve));
else while (!existsSync(seen)) await new Promise((resolve) => setTimeout(resolve, 20));
await kept.close();
process.exit(how === "wait" ? 143 : Number(how));
