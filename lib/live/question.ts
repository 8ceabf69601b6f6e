import { HoneError } from "../errors.ts";
import type { Watch } from "./watch.ts";
import type { WatchedRun } from "./watched-run.ts";

/** Question of the page, and the data for its answer. Answering changes nothing. */
export interface Question {
  /** Parameters of the address, without the token. */
  readonly query: URLSearchParams;
  readonly watch: Watch;
}

/** JSON for `/api/<name>`. Throws HONE_ERR_USAGE for an invalid question (status 400). */
export type Answer = (question: Question) => unknown | Promise<unknown>;

/** The run that a question is about (`run=0`). Throws HONE_ERR_USAGE. */
export function runOf({ query, watch }: Question): WatchedRun {
  const run = watch.runs[Number(query.get("run") ?? "0")];
  if (run !== undefined) return run;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `run=${query.get("run")}: the page has ${watch.runs.length} runs, numbered from 0`,
  );
}
