/** Memory that a recipe needs, computed before anything is allocated. */

export type { Advice, Proposal } from "./advice.ts";
export type { PlannedModel } from "./buffers.ts";
export { choiceText, expectFit, settings } from "./fit.ts";
export type { RolePlan } from "./measured.ts";
export { type Machine, type MemoryPlan, placedOn, planMemory } from "./memory.ts";
export { type Network, networkOf } from "./network.ts";
export { CARDS, planTable, recipeOfModel, type TableRow } from "./table.ts";
export { fromUnits, inUnits } from "./units.ts";
