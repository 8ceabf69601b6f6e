import { HoneError } from "../../errors.ts";
import {
  type BeforeAfterProblem,
  beforeAfter as beforeAfterOf,
  CHANGE_KINDS,
  type ChangeKind,
  type HeldOutSaid,
} from "../../samples/index.ts";
import { type Question, runOf } from "../question.ts";
import { shownText } from "../run-samples.ts";
import type { BeforeAfterAnswer } from "../wire.ts";
import { natural } from "./samples.ts";

const MOST = 50;
const MOST_CHARS = 20_000;

/** A page of held-out problems before training and after; null if fewer than two evaluations are kept. Throws HONE_ERR_USAGE. */
export async function beforeAfter(question: Question): Promise<BeforeAfterAnswer | null> {
  const { query } = question;
  const kind = (query.get("kind") || "all") as ChangeKind;
  if (!CHANGE_KINDS.includes(kind))
    throw new HoneError("HONE_ERR_USAGE", `kind=${kind}: it must be one of ${CHANGE_KINDS.join(", ")}`);
  const found = await beforeAfterOf(runOf(question).dir, {
    kind,
    domain: query.get("domain") || undefined,
    at: natural(query, "at"),
    offset: natural(query, "offset"),
    limit: Math.min(natural(query, "limit") ?? 20, MOST),
  });
  if (found === undefined) return null;
  const chars = Math.min(natural(query, "chars") ?? MOST_CHARS, MOST_CHARS);
  return { ...found, problems: found.problems.map((one) => shown(one, chars)) };
}

/** Texts without terminal or HTML control characters; keeps only both ends of long ones. */
function shown(one: BeforeAfterProblem, chars: number): BeforeAfterAnswer["problems"][number] {
  const said = ({ text, ...facts }: HeldOutSaid) => ({ ...facts, text: shownText(text, chars) });
  const { reference } = one;
  const asText = typeof reference === "string" ? reference : (JSON.stringify(reference) ?? "");
  return {
    ...one,
    question: shownText(one.question, chars),
    reference: shownText(asText, chars),
    before: one.before.map(said),
    after: one.after.map(said),
  };
}
