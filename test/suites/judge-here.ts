// Shared by the tests of suites and their child processes; it needs no test runner.
import { loadBuiltIn } from "../../lib/domains/index.ts";
import type { Verdict } from "../../lib/records.ts";
import type { VerificationRequest } from "../../lib/rewards/index.ts";
import { named, type Suite } from "../../lib/suites/suite.ts";

/** Problems that ask for a sum in a box: problem i asks for i + i. */
export function sums(count: number, change: Partial<Suite> = {}): Suite {
  const problems = Array.from({ length: count }, (_, i) =>
    named({
      domain: "math",
      family: i % 2 === 0 ? "even" : "odd",
      level: i % 3,
      question: `What is ${i} + ${i}?`,
      verifier: "math",
      reference: { answer: String(2 * i) },
    }),
  );
  return {
    name: "sums",
    metric: "correct",
    count,
    problem: (index) => problems[index]!,
    levels: ["easy", "middle", "hard"],
    answer: (text) => /\\boxed\{(.+?)\}/.exec(text)?.[1],
    modules: {},
    ...change,
  };
}

/** Judges with the built-in verifiers in this process. */
export const judgeHere = {
  async verify(requests: readonly VerificationRequest[]): Promise<Verdict[]> {
    return Promise.all(
      requests.map(async ({ problem, text, finish }) => {
        const verifier = (await loadBuiltIn(problem.verifier))!;
        return verifier.verify({ text, finish }, verifier.parseReference(problem.reference));
      }),
    );
  },
};
