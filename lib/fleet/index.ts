/** A run over several processes: the engines of actors and the trainer's ranks, behind the faces of one process. */
export { type ActorParts, runActor } from "./actor.ts";
export { Fleet, type FleetOptions, openFleet } from "./fleet.ts";
export type { SendingTrainer } from "./fleet-trainer.ts";
export { type FleetSettings, SETTINGS } from "./names.ts";
export type * from "./transport.ts";
