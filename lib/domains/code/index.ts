import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { codeExpression } from "./expression.ts";
import { describedFunction, inputOutput } from "./generate.ts";
import { liveCodeBench } from "./read/live-code-bench.ts";
import { taco } from "./read/taco.ts";
import { code } from "./verify.ts";

export const CODE = {
  datasets: { taco, "live-code-bench": liveCodeBench },
  families: [describedFunction, inputOutput],
  verifiers: [code, codeExpression],
  readCase,
} satisfies Domain;
