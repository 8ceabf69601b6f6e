import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { PatternError } from "../../python/pattern-cursor.ts";
import { compatField, type JudgedTwoWays } from "../compat.ts";
import type { Verifier } from "../verifier.ts";
import { CONSTRAINTS } from "./constraints.ts";
import { FACTS } from "./facts.ts";
import { type BoundConstraint, type InstructionReference, judgeResponse, type Rules } from "./judging.ts";
import { REFERENCE } from "./reference.ts";
import { STRICT } from "./strict.ts";
import { loadLanguages } from "./text/language.ts";

const RULES: JudgedTwoWays<Rules> = { reference: REFERENCE, strict: STRICT };

const referenceSchema = z.object({
  instruction_id_list: z.array(z.string()).min(1),
  kwargs: z.array(z.record(z.string(), z.unknown()).nullable()),
  mode: z.enum(["train", "strict", "loose", "constraint"]).default("train"),
  compat: compatField,
});

/**
 * Instruction following: the score is the fraction of a prompt's constraints that the response follows. The reference
 * is { instruction_id_list, kwargs, mode?, compat? }: constraint ids and, in the same order, their arguments (null or
 * absent ones are not given); mode is train by default, compat strict. A row that names an unknown constraint, or
 * lacks an argument, is refused: published checkers draw one at random, which teaches nothing. Strict judges the text
 * after the thought (final-response.ts), takes keywords literally, and closes the exploits that the constraints name;
 * reference judges as PipelineRL does in mode train, and as IFEval does in the others. Every check takes time linear
 * in the response, of which at most 2^18 characters are judged.
 * Source: IF-RLVR rows (IF_multi_constraints_upto5) and IFEval; the constraints are in constraints.ts.
 */
export const instructionFollowing: Verifier<InstructionReference> = {
  ...FACTS.instructionFollowing,

  parseReference(raw) {
    const parsed = referenceSchema.safeParse(raw);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw refused(`${issue?.path.join(".") || "reference"}: ${issue?.message}`);
    }
    const { instruction_id_list: ids, kwargs, mode, compat } = parsed.data;
    if (ids.length !== kwargs.length) throw refused(`${ids.length} constraints with ${kwargs.length} kwargs`);
    const rules = RULES[compat];
    return { mode, rules, constraints: ids.map((id, i) => bind(id, kwargs[i] ?? {}, i, rules)) };
  },

  verify: ({ text }, reference) => judgeResponse(text, reference),

  async prepare() {
    loadLanguages();
  },
};

function refused(message: string): HoneError {
  return new HoneError("HONE_ERR_DATA", `instruction-following: ${message}`, {
    hint: "The reference is { instruction_id_list, kwargs, mode?, compat? }; see docs/reference/verify.md.",
  });
}

function bind(
  id: string,
  args: Readonly<Record<string, unknown>>,
  position: number,
  rules: Rules,
): BoundConstraint {
  const kind = CONSTRAINTS.get(id);
  if (kind === undefined) throw refused(`no constraint is called ${JSON.stringify(id.slice(0, 80))}`);
  const given = Object.fromEntries(
    Object.entries(args).filter(([, value]) => value !== null && value !== undefined),
  );
  try {
    return { id, check: rules.bind(kind, given) };
  } catch (error) {
    if (error instanceof z.ZodError) {
      const faults = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
      throw refused(`${id} (number ${position + 1}): ${faults}`);
    }
    if (error instanceof PatternError) throw refused(`${id} (number ${position + 1}): ${error.message}`);
    throw error;
  }
}
