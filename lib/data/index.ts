export {
  counted,
  type DatasetReport,
  type HubOrigin,
  reportLine,
  rowWarnings,
  Tallies,
  type Tally,
  UNASKED,
  unusedTexts,
} from "./census.ts";
export type { FilePart } from "./file-parts.ts";
export { type DataFile, dataFiles, isDataFile, isDataPath } from "./files.ts";
export { isHeldOut } from "./holdout.ts";
export { problemId, problemName } from "./problem-id.ts";
export { identityOf } from "./problem-identity.ts";
export type { ProblemSource, RowsTask, SourceOptions } from "./problem-source.ts";
export type { KeptRow } from "./row-filter.ts";
export type { Admission, Drops } from "./row-judge.ts";
export { type PartMarks, PartReader } from "./row-marks.ts";
export type { RowThread } from "./row-threads.ts";
export { readRows } from "./rows.ts";
export { ROWS_READ, type RowsRead } from "./rows-read.ts";
