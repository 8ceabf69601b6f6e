/** How much memory a recipe takes, before anything is allocated. */
export { expectFit } from "./fit.ts";
export { type Machine, type MemoryPlan, planMemory, type RolePlan } from "./memory.ts";
export { type Network, networkOf } from "./network.ts";
export { fromUnits, inUnits } from "./units.ts";
