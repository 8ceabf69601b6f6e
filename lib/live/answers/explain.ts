import { HoneError } from "../../errors.ts";
import { type ExplainedSettings, type Explanation, explainStep } from "../../explain/index.ts";
import type { Verdict } from "../../records.ts";
import { visibleText } from "../../shared/text/visible-text.ts";
import { type Question, runOf } from "../question.ts";

/** The explanation in progress: each one holds a model in memory. */
let underWay: Promise<unknown> = Promise.resolve();

/**
 * Explains the gradients of an attempt's tokens: `run`, `step`, `problem`, `attempt`; `position` selects one token,
 * `gradient=1` adds shares of the step's gradient, `set` may be repeated. Removes control characters from texts. Runs
 * one explanation at a time. Throws the errors of `explainStep`, HONE_ERR_USAGE for a parameter that is not an
 * integer.
 */
export function explain(question: Question): Promise<Explanation> {
  const { query } = question;
  const [step, problem, attempt] = ["step", "problem", "attempt"].map((name) => whole(query, name));
  const token = query.has("position") ? whole(query, "position") : undefined;
  const gradient = query.get("gradient") === "1";
  const which = { step: step!, problem: problem!, attempt: attempt!, token };
  const { trust } = question.watch;
  const answer = underWay.then(() =>
    explainStep(runOf(question).dir, { ...which, gradient, set: query.getAll("set"), trust }),
  );
  underWay = answer.catch(() => {}); // errors reach the caller of the failed request; later requests are not affected
  return answer.then(shown);
}

function whole(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HoneError("HONE_ERR_USAGE", `${name}=${text}: a whole number is needed`);
}

const shown = (explanation: Explanation): Explanation => ({
  ...explanation,
  verdict: shownVerdict(explanation.verdict),
  settings: explanation.settings.map(shownTokens),
});

const shownVerdict = (verdict: Verdict): Verdict =>
  verdict.status === "unscored"
    ? { ...verdict, cause: visibleText(verdict.cause) }
    : { ...verdict, reason: visibleText(verdict.reason) };

const shownTokens = (settings: ExplainedSettings): ExplainedSettings => ({
  ...settings,
  tokens: settings.tokens.map((token) => ({ ...token, text: visibleText(token.text) })),
});
