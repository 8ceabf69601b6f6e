/** Runs under a virtual clock: the pipeline's own scheduling on a machine that is only described. */

export type { FittedMachine } from "./fit.ts";
export { gpuMachine } from "./gpu-machine.ts";
export { type Machine, readMachine } from "./machine.ts";
export { runPage, sweepPage } from "./page.ts";
export type { SimulatedRun } from "./run-facts.ts";
export { simulate } from "./simulation.ts";
export { type SweptVariant, sweepVariants } from "./sweep.ts";
export { duration, runText, sweepText } from "./tables.ts";
export { AXES, type Axis } from "./variants.ts";
export type { Outcomes } from "./workload.ts";
