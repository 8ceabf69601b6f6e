/** Output for users: the live frame, the tables at its end, the report page. */
export { COLORED, clip, flow, PLAIN, type Style } from "./ansi.ts";
export { type Bar, type BarFigure, barsSvg, standaloneBars } from "./bars.ts";
export { htmlDocument, htmlTable } from "./document.ts";
export { type Figure, type FigureLine, type FigureMark, figureSvg, standaloneFigure } from "./figure.ts";
export { type HeldOutChange, headlineSetting, meanChange, runChange } from "./held-out-change.ts";
export { type Html, html } from "./html.ts";
export { processTable } from "./process-lines.ts";
export { Progress, type ProgressOptions } from "./progress.ts";
export { readRunFolder, readSummary } from "./run-reader.ts";
export { movingMean, smoothingWindow } from "./smoothing.ts";
export type { CandidateRow, EvaluationTable, RunSummary, Score } from "./summary.ts";
export { beforeAfterText, honestyNotes, scoreRows, settingName } from "./table.ts";
export { formatTable, type PlainTable, TABLE_FORMATS, type TableFormat } from "./table-formats.ts";
export { columnsOf, isLive, type Terminal, usesColor } from "./terminal.ts";
export { textTable } from "./text-table.ts";
