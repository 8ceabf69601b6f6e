import { EngineAnswerer } from "../../lib/suites/engine-answerer.ts";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { judgeHere, sums } from "./judge-here.ts";

/**
 * The evaluation that evaluation-killed.test.ts kills: 240 completions. @param tell called with the number of
 * completions at each increase
 */
export async function evaluation(
  model: string,
  dir: string,
  tell: (there: number) => void = () => {},
): Promise<void> {
  await using answerer = new EngineAnswerer(model, { temperature: 1, topP: 1, maxTokens: 60, maxRunning: 4 });
  let told = -1;
  await evaluateSuites(answerer, [sums(60)], {
    dir,
    model: "tiny",
    seeds: [1, 2, 3, 4],
    verifiers: judgeHere,
    onProgress: ({ there }) => {
      if (there > told) tell(there);
      told = there;
    },
  });
}
