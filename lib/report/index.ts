/** What people see of a run: the live frame, the tables at its end, the report page. */
export { clip, flow } from "./ansi.ts";
export { Progress, type ProgressOptions } from "./progress.ts";
export type { CandidateRow, EvaluationTable, RunSummary, Score } from "./summary.ts";
export { beforeAfterText, settingName } from "./table.ts";
export { formatTable, TABLE_FORMATS, type TableFormat } from "./table-formats.ts";
export { columnsOf, isLive, type Terminal } from "./terminal.ts";
export { textTable } from "./text-table.ts";
export { writeReport } from "./write-report.ts";
