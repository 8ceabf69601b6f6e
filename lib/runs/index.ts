/** Run folders side by side: their states, how their recipes differ, what came out. */

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
