/** What people see of a run: the frame while it runs, the tables at its end, the page that stays. */
export { Progress, type Terminal } from "./progress.ts";
export type { EvaluationTable, RunSummary, Score } from "./summary.ts";
export { beforeAfterText } from "./table.ts";
export { writeReport } from "./write-report.ts";
