/** Compares run folders: their states, differences of their recipes, their results. */

export {
  type ComparedRuns,
  compareRuns,
  diffRuns,
  type FieldDifference,
  MEAN,
  type Measure,
  type ResultDifference,
  type RunsDifference,
} from "./diff.ts";
export { listRuns, type RunList, type RunRow } from "./list.ts";
export type { RunFacts, RunState } from "./read-run.ts";
export { fieldsOf } from "./recipe-fields.ts";
export { type RunStatus, readStatus } from "./status.ts";
