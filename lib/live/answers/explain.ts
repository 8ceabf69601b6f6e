import { HoneError } from "../../errors.ts";
import { type Explanation, explainStep } from "../../explain/index.ts";
import { type Question, runOf } from "../question.ts";

/** The one that is under way: each holds a model. */
let underWay: Promise<unknown> = Promise.resolve();

/**
 * Why the tokens of an attempt got their gradient: `run`, `step`, `problem`, `attempt`, and `set` as often as wanted. One
 * question after the other. Throws what `explainStep` throws, HONE_ERR_USAGE for a parameter that is no whole number.
 */
export function explain(question: Question): Promise<Explanation> {
  const { query } = question;
  const [step, problem, attempt] = ["step", "problem", "attempt"].map((name) => whole(query, name));
  const options = { step: step!, problem: problem!, attempt: attempt!, set: query.getAll("set") };
  const answer = underWay.then(() => explainStep(runOf(question).dir, options));
  underWay = answer.catch(() => {}); // whoever asked is told; the next one is answered all the same
  return answer;
}

function whole(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HoneError("HONE_ERR_USAGE", `${name}=${text}: a whole number is needed`);
}
