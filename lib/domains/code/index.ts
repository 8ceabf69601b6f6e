import type { Domain } from "../domain.ts";
import { FACTS } from "./facts.ts";
import { describedFunction, inputOutput } from "./generate.ts";
import { apps } from "./read/apps.ts";
import { codeAssertions } from "./read/code-assertions.ts";
import { codeContestsPlus } from "./read/code-contests-plus.ts";
import { codeTests } from "./read/code-tests.ts";
import { humanEval } from "./read/human-eval.ts";
import { liveCodeBench } from "./read/live-code-bench.ts";
import { mbpp } from "./read/mbpp.ts";
import { taco } from "./read/taco.ts";

export const CODE = {
  datasets: {
    taco,
    apps,
    "code-tests": codeTests,
    "code-assertions": codeAssertions,
    "code-contests-plus": codeContestsPlus,
    "live-code-bench": liveCodeBench,
    "human-eval": humanEval,
    mbpp,
  },
  families: [describedFunction, inputOutput],
  verifiers: FACTS,
} satisfies Domain;
