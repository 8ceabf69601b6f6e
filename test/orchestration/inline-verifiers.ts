import { loadBuiltIn } from "../../lib/domains/index.ts";
import type { Verifiers } from "../../lib/orchestration/setup/episodes.ts";

/** Runs the package's verifiers on the test's own thread. */
export const inlineVerifiers: Verifiers = {
  verify: (group) =>
    Promise.all(
      group.map(async ({ problem, text, finish }) => {
        const verifier = (await loadBuiltIn(problem.verifier))!;
        return verifier.verify({ text, finish }, verifier.parseReference(problem.reference));
      }),
    ),
  stats: () => ({}),
};
