import { HoneError } from "../../errors.ts";
import {
  type NamedProblem,
  PROBLEM_KINDS,
  PROBLEM_ORDERS,
  type ProblemKind,
  type ProblemOrder,
  problems as problemsOf,
  takings,
} from "../../samples/index.ts";
import { visibleText } from "../../shared/text/visible-text.ts";
import { type Question, runOf } from "../question.ts";
import { samplesOf } from "../run-samples.ts";
import type { ProblemAnswer, ProblemsAnswer } from "../wire.ts";
import { natural } from "./samples.ts";

const MOST = 200;

/** A page of problems of a kind, sorted; null while the run has none. Throws HONE_ERR_USAGE. */
export async function problems(question: Question): Promise<ProblemsAnswer | null> {
  const asked = question.query;
  const kind = oneOf(asked, "kind", PROBLEM_KINDS) as ProblemKind;
  const order = oneOf(asked, "order", PROBLEM_ORDERS) as ProblemOrder;
  const index = await samplesOf(runOf(question));
  if (index === undefined) return null;
  const [offset, limit] = [natural(asked, "offset") ?? 0, Math.min(natural(asked, "limit") ?? 50, MOST)];
  const wanted = { domain: asked.get("domain") || undefined, kind, order, offset, limit };
  const found = await problemsOf(index, wanted);
  return { total: found.total, problems: found.problems.map(shown) };
}

/** Removes control characters from data set texts. */
function shown(one: NamedProblem): NamedProblem {
  const { row, begins } = one;
  return {
    ...one,
    ...(row !== undefined && { row: visibleText(row) }),
    ...(begins !== undefined && { begins: visibleText(begins) }),
  };
}

/** The groups of one problem in the order of steps. */
export async function problem(question: Question): Promise<ProblemAnswer | null> {
  const index = await samplesOf(runOf(question));
  if (index === undefined) return null;
  const { query } = question;
  return { takings: takings(index, query.get("domain") ?? "", natural(query, "problem") ?? 0) };
}

/** The requested name, or the first of the allowed ones if none is given. */
function oneOf(asked: URLSearchParams, name: string, names: readonly string[]): string {
  const text = asked.get(name) || names[0]!;
  if (names.includes(text)) return text;
  throw new HoneError("HONE_ERR_USAGE", `${name}=${text}: it must be one of ${names.join(", ")}`);
}
