export {
  counted,
  type DatasetReport,
  type HubOrigin,
  reportLine,
  rowWarnings,
  Tallies,
  type Tally,
  UNASKED,
} from "./census.ts";
export { type DataFile, dataFiles, isDataFile, isDataPath } from "./files.ts";
export { isHeldOut } from "./holdout.ts";
export { problemId, problemName } from "./problem-id.ts";
export { identityOf } from "./problem-identity.ts";
export type { ProblemSource, SourceOptions } from "./problem-source.ts";
export type { Admission, Drops, KeptRow } from "./row-filter.ts";
export { readRows } from "./rows.ts";
export { ROWS_READ, type RowsRead } from "./rows-read.ts";
