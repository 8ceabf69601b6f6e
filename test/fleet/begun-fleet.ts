import { afterEach } from "vitest";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { type LocalFleet, localFleet } from "./local-fleet.ts";
import { generationsOf, TRAINER, until } from "./small-engine.ts";

/** The fleets that are closed after each test of the importing file. */
export const open: LocalFleet[] = [];
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});

/** A fleet whose actors have weights of version 0. */
export async function begun(settings = {}, actors = 2) {
  const core = standInCore();
  const local = await localFleet(core, actors, settings);
  open.push(local);
  const { fleet } = local;
  const generations = generationsOf(fleet);
  const trainer = fleet.trainer("{}", TRAINER);
  await until(() => fleet.membership.alive.length === actors, "all actors");
  await trainer.publish(generations.engine);
  const publish = async (version: number) => {
    await trainer.setVersion(version);
    return trainer.publish(generations.engine);
  };
  const { updates } = fleet;
  return { ...local, updates, generations, publish, trainer, engines: core.engines };
}

export const versionsOf = ({ engines }: Awaited<ReturnType<typeof begun>>) =>
  engines.map((engine) => engine.stats().version);
