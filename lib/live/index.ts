/** The page of a run: a server that reads run folders, and what the browser gets. */

export { ANSWERS } from "./answers.ts";
export { type Answer, type Question, runOf } from "./question.ts";
export { type LiveOptions, LiveServer } from "./server.ts";
export { writeReport } from "./static-report.ts";
export type { WatchedRun } from "./watched-run.ts";
