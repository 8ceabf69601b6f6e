import { textTable } from "../report/index.ts";
import type { BeforeAfter, BeforeAfterProblem, HeldOutSaid } from "../samples/index.ts";
import { visibleText } from "../shared/text/visible-text.ts";
import { part, sideBySide } from "./sample-tables.ts";

const BEGINNING_CHARS = 60;

/** Formats one row per held-out problem; with `show`, also its question and one answer of each evaluation. */
export function heldOutText(
  found: BeforeAfter,
  { show, columns }: { readonly show: boolean; readonly columns: number },
): string {
  const { problems, counts, total, before, after } = found;
  const head = ["problem", "change", "before", "after", "begins"];
  const rows = problems.map((one) => [
    nameOf(one),
    one.change === "wrong" ? "both wrong" : one.change,
    `${one.solved[0]} of ${one.judged[0]}`,
    `${one.solved[1]} of ${one.judged[1]}`,
    visibleText(one.question.replace(/\s+/g, " ").trim().slice(0, BEGINNING_CHARS)),
  ]);
  const blocks = show
    ? problems.map((one, i) => [rows[i]!.slice(0, 4).join(", "), pairText(one, columns)].join("\n"))
    : [textTable({ head, rows }, columns).join("\n")];
  const shown = total === problems.length ? `${total}` : `${problems.length} of ${total}`;
  return [
    ...blocks,
    `${shown} held-out problems; attempts that solved them at step ${before.step} and at step ${after.step}.`,
    `Of all: ${counts.gained} gained, ${counts.lost} lost, ${counts.wrong} wrong at both times, ${counts.same} as before.`,
  ].join("\n\n");
}

const nameOf = ({ set, domain, problem }: BeforeAfterProblem): string => `${set ?? domain} ${problem}`;

function pairText(one: BeforeAfterProblem, columns: number): string {
  const { question, reference } = one;
  const asText = typeof reference === "string" ? reference : (JSON.stringify(reference) ?? "");
  const sides = pairOf(one).map((said, i) => {
    if (said === undefined) return { title: "no answer", text: "" };
    const when = i === 0 ? "before" : "after";
    return { title: `${when}: ${said.status}, ${said.tokens} tokens`, text: said.text };
  });
  return [
    part("question", question),
    part("reference", asText),
    sideBySide(sides[0]!, sides[1]!, columns),
  ].join("\n");
}

/**
 * Returns a pair of attempts that shows the change: a failure and a success if the problem was gained, otherwise the
 * first attempts.
 */
function pairOf({
  change,
  before,
  after,
}: BeforeAfterProblem): readonly [HeldOutSaid | undefined, HeldOutSaid | undefined] {
  const solved = (said: readonly HeldOutSaid[], is: boolean) =>
    said.find(({ status }) => (status === "correct") === is) ?? said[0];
  if (change === "gained") return [solved(before, false), solved(after, true)];
  if (change === "lost") return [solved(before, true), solved(after, false)];
  return [before[0], after[0]];
}
