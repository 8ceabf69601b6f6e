import type { ProcessStatus } from "../metrics/index.ts";
import { flow, type Style, short } from "./ansi.ts";
import { textTable } from "./text-table.ts";

const NONE = "–";

/** One row per process, at most `columns` wide. */
export function processTable(rows: readonly ProcessStatus[], columns: number): string[] {
  const did = rows.every(({ state }) => state === "gone") ? "last did" : "does";
  const head = ["process", "state", "pid", "version", "lag", "tokens/s", "restarts", did];
  const cells = rows.map(({ name, state, pid, version, lag, tokensPerSecond, restarts, doing }) => [
    name,
    state,
    pid === undefined ? NONE : String(pid),
    version === undefined ? NONE : `v${version}`,
    lag === undefined ? NONE : String(lag),
    tokensPerSecond === undefined ? NONE : short(tokensPerSecond),
    String(restarts),
    doing,
  ]);
  return textTable({ head, rows: cells }, columns);
}

/** The actors and trainers of a run for its frame, in a line or two; none for a run of one process. */
export function processWords(rows: readonly ProcessStatus[], columns: number, style: Style): string[] {
  const others = rows.filter(({ name }) => /^(actor|trainer)\./.test(name));
  return flow(
    others.map((row) => words(row, style)),
    columns,
  );
}

function words(
  { name, state, version, lag, tokensPerSecond, restarts }: ProcessStatus,
  style: Style,
): string {
  const facts = [
    state === "alive" ? `v${version ?? 0}` : state,
    ...(lag !== undefined && lag > 0 ? [`lags ${lag}`] : []),
    ...(tokensPerSecond === undefined ? [] : [`${short(tokensPerSecond)} tok/s`]),
    ...(restarts > 0 ? [`restarted ${restarts}×`] : []),
  ];
  return `${style.dim(name)} ${facts.join(" ")}`;
}
