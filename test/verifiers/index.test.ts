import { expect, test } from "vitest";
import { openProblems, Verifiers } from "../../lib/verifiers/index.ts";

test("judges a case of a domain, strictly or as the reference implementation does", async () => {
  await using strict = new Verifiers();
  await expect(strict.judge("math", { response: "so \\boxed{1/2}", gold: "0.5" })).resolves.toMatchObject({
    status: "correct",
    score: 1,
  });
  await expect(strict.judge("math", { response: "so \\boxed{3}", gold: "0.5" })).resolves.toMatchObject({
    status: "wrong",
    score: 0,
  });
  // The reference implementation takes a box from the reasoning; strict reads the answer alone.
  const thought = { response: "<think>\\boxed{0.5}</think> I do not know", gold: "0.5" };
  await using reference = new Verifiers({ compat: "reference" });
  await expect(reference.judge("math", thought)).resolves.toMatchObject({ status: "correct" });
  await expect(strict.judge("math", thought)).resolves.toMatchObject({ status: "no_answer", score: 0 });
});

test("an unknown domain and a case without its fields are errors that say what is known", async () => {
  await using verifiers = new Verifiers();
  await expect(verifiers.judge("maths", {})).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    hint: expect.stringContaining("math, code, logic"),
  });
  await expect(verifiers.judge("math", { response: "x" })).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
});

/** Solves "Solve ax+b=c mod m" by trial, and "Apply to x: +3 *2 mod m" step by step. */
function solved(question: string): number {
  const [, a, b, c, modulus] = /^Solve (\d+)x\+(\d+)=(\d+) mod (\d+)$/.exec(question)?.map(Number) ?? [];
  if (modulus !== undefined)
    return [...Array(modulus).keys()].find((x) => (a! * x + b!) % modulus === c! % modulus)!;
  const [, start, steps, m] = /^Apply to (\d+): (.*) mod (\d+)$/.exec(question)!;
  const apply = (x: number, step: string) =>
    step.startsWith("*") ? x * Number(step.slice(1)) : x + Number(step);
  return steps!.split(" ").reduce(apply, Number(start)) % Number(m);
}

test("judges completions of drawn problems in their order; the same seed draws the same problems", async () => {
  await using verifiers = new Verifiers({ workers: 2 });
  const source = await openProblems("procedural/math", { seed: 7 });
  const again = await openProblems("procedural/math", { seed: 7 });
  for (let index = 0; index < 6; index++) {
    const problem = source.problem(index);
    expect(again.problem(index)).toEqual(problem);
    const answer = solved(problem.question);
    const verdicts = await verifiers.judgeAnswers(problem, [
      `</think>${answer}`,
      `</think>${answer + 1}`,
      { text: `</think>${answer}`, finish: "length" },
    ]);
    expect(verdicts.slice(0, 2)).toMatchObject([{ status: "correct" }, { status: "wrong" }]);
    expect(verdicts).toHaveLength(3);
  }
  await expect(openProblems("procedural/maths")).rejects.toMatchObject({ code: "HONE_ERR_CONFIG" });
});

test("after close() nothing is judged", async () => {
  const verifiers = new Verifiers();
  await verifiers.close();
  await expect(verifiers.judge("math", { response: "\\boxed{1}", gold: "1" })).rejects.toMatchObject({
    code: "HONE_ERR_STATE",
  });
});
