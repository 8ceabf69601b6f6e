/** Output of progress: process.stdout, or anything like it. */
export interface Terminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Assumed width of a terminal that does not report one, or reports 0 while it is being opened or resized. */
const UNKNOWN_COLUMNS = 80;
const OFF = ["", "0", "false"];

/** True if output can be overwritten: a terminal that moves its cursor, and not the log of a CI service. */
export function isLive({ isTTY }: Pick<Terminal, "isTTY">, environment: Environment = process.env): boolean {
  return isTTY === true && environment["TERM"] !== "dumb" && OFF.includes(environment["CI"] ?? "");
}

/**
 * https://no-color.org: a NO_COLOR that is not empty wins; https://force-color.org: FORCE_COLOR turns colour on where
 * there is no terminal, and with 0 or false off where there is one.
 */
export function usesColor(terminal: Pick<Terminal, "isTTY">, environment: Environment): boolean {
  if ((environment["NO_COLOR"] ?? "") !== "") return false;
  const force = environment["FORCE_COLOR"] ?? "";
  return force === "" ? isLive(terminal, environment) : !OFF.includes(force);
}

/** Columns available, at least 1. */
export function columnsOf({ columns }: Pick<Terminal, "columns">): number {
  return atLeastOne(columns) ?? UNKNOWN_COLUMNS;
}

/** Number of columns for tables that are printed once: the terminal's width; unlimited in a pipe or a file. */
export function printedColumns(terminal: Pick<Terminal, "isTTY" | "columns">): number {
  return terminal.isTTY === true ? columnsOf(terminal) : Number.MAX_SAFE_INTEGER;
}

/** Rows available; unlimited if the terminal does not say. */
export function rowsOf({ rows }: Pick<Terminal, "rows">): number {
  return atLeastOne(rows) ?? Number.POSITIVE_INFINITY;
}

function atLeastOne(size: number | undefined): number | undefined {
  return size !== undefined && Number.isFinite(size) && size >= 1 ? Math.floor(size) : undefined;
}
