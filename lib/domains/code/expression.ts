import { z } from "zod";
import type { SandboxLimits } from "../../sandbox/sandbox.ts";
import { WasmSandbox } from "../../sandbox/wasm.ts";
import { checkedReference } from "../checked.ts";
import { extractAnswer } from "../response-format.ts";
import { correct, unparsable, type Verifier, wrong } from "../verifier.ts";
import { FACTS } from "./facts.ts";

const value = z.union([z.number(), z.string().max(1000)]);
const referenceSchema = z
  .object({ inputs: z.array(value).min(1).max(64), outputs: z.array(value) })
  .refine(({ inputs, outputs }) => inputs.length === outputs.length, "one output for each input");
type Reference = z.infer<typeof referenceSchema>;

const MAX_EXPRESSION_CHARS = 200;
const LIMITS: SandboxLimits = {
  fuel: 5,
  memoryBytes: 4 << 20,
  stackBytes: 128 << 10,
  maxProgramChars: MAX_EXPRESSION_CHARS,
  maxOutputChars: 1000,
};

const sandbox = new WasmSandbox();

/**
 * An expression in x, run in the sandbox on every hidden input. The results are compared outside the sandbox: for
 * every input both must be the same number or the same string.
 */
export const codeExpression: Verifier<Reference> = {
  ...FACTS.expression,
  parseReference: (raw) => checkedReference(referenceSchema, raw, "expression", "{ inputs, outputs }"),

  prepare: () => sandbox.start(),

  async verify(completion, { inputs, outputs }) {
    const extracted = extractAnswer(completion, MAX_EXPRESSION_CHARS);
    if ("verdict" in extracted) return extracted.verdict;
    const result = await sandbox.run({ expression: extracted.answer }, inputs, LIMITS);
    if (!result.ok)
      return result.failure === "syntax" ? unparsable("not an expression") : wrong(result.failure);
    const missed = outputs.filter((expected, i) => result.outputs[i] !== expected).length;
    return missed === 0 ? correct("all tests pass") : wrong(`fails ${missed} of ${outputs.length} tests`);
  },
};
