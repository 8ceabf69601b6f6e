import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { isBlank, trim } from "../../python/text.ts";
import { finalResponse } from "../final-response.ts";
import { fraction, noAnswer, unparsable, type Verifier } from "../verifier.ts";
import type { Compat } from "../verify-case.ts";
import type { Check } from "./constraint.ts";
import { CONSTRAINTS } from "./constraints.ts";
import { loadLanguages } from "./text/language.ts";
import { PatternError } from "./text/pattern-syntax.ts";
import { ResponseText } from "./text/response-text.ts";

const MAX_RESPONSE_CHARS = 1 << 18;
const MAX_REASON_CHARS = 190;

const referenceSchema = z.object({
  instruction_id_list: z.array(z.string()).min(1),
  kwargs: z.array(z.record(z.string(), z.unknown()).nullable()),
  mode: z.enum(["train", "strict", "loose", "constraint"]).optional(),
  compat: z.enum(["reference", "strict"]).optional(),
});

/**
 * `train` and `strict` judge the response as it is, `loose` accepts what any of eight trimmed variants follows. A blank
 * response follows nothing in these three; `constraint` gives what the constraints themselves say, of blank ones too.
 */
export type Mode = "train" | "strict" | "loose" | "constraint";

export interface BoundConstraint {
  readonly id: string;
  readonly check: Check;
}

export interface InstructionReference {
  readonly constraints: readonly BoundConstraint[];
  readonly mode: Mode;
  readonly compat: Compat;
}

/**
 * Instruction following: the score is the fraction of a prompt's constraints that the response follows. The reference
 * is { instruction_id_list, kwargs, mode?, compat? }: constraint ids and, in the same order, their arguments (null or
 * absent ones are not given); mode is train unless said, compat strict. A row that names an unknown constraint, or
 * lacks an argument, is refused: published checkers draw one at random, and nothing can be learnt from that.
 * Strict judges what follows the thought (final-response.ts), takes keywords literally, and closes the exploits that
 * the constraints name; reference judges as PipelineRL does in mode train, and as IFEval does in the others.
 * Every check takes time linear in the response, of which at most 2^18 characters are judged.
 * Source: IF-RLVR rows (IF_multi_constraints_upto5) and IFEval; the constraints are in constraints.ts.
 */
export const instructionFollowing: Verifier<InstructionReference> = {
  name: "instruction-following",
  version: 2,
  limits: { timeoutMs: 5000 },

  parseReference(raw) {
    const parsed = referenceSchema.safeParse(raw);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw refused(`${issue?.path.join(".") || "reference"}: ${issue?.message}`);
    }
    const { instruction_id_list: ids, kwargs, mode = "train", compat = "strict" } = parsed.data;
    if (ids.length !== kwargs.length) throw refused(`${ids.length} constraints with ${kwargs.length} kwargs`);
    return { mode, compat, constraints: ids.map((id, i) => bind(id, kwargs[i] ?? {}, i, compat)) };
  },

  verify({ text }, { constraints, mode, compat }) {
    const response = compat === "strict" ? finalResponse(text) : mode === "train" ? marked(text) : text;
    if (isBlank(response) && (mode !== "constraint" || compat === "strict"))
      return noAnswer("blank response");
    if (response.length > MAX_RESPONSE_CHARS)
      return unparsable(`response over ${MAX_RESPONSE_CHARS} characters`);
    const texts = (mode === "loose" ? variants(response) : [response]).map((each) => new ResponseText(each));
    const followed = constraints.map(({ check }) => texts.some(check));
    return fraction(followed.filter((each) => each).length / followed.length, explain(constraints, followed));
  },

  async prepare() {
    loadLanguages();
  },
};

/** "follows [1,0]: not keywords:existence": one digit a constraint, in the reference's order. */
function explain(constraints: readonly BoundConstraint[], followed: readonly boolean[]): string {
  const broken = constraints.filter((_, i) => !followed[i]).map(({ id }) => id);
  const digits = `follows [${followed.map(Number).join()}]`;
  return (broken.length === 0 ? digits : `${digits}: not ${broken.join(", ")}`).slice(0, MAX_REASON_CHARS);
}

function refused(message: string): HoneError {
  return new HoneError("HONE_ERR_DATA", `instruction-following: ${message}`, {
    hint: "The reference is { instruction_id_list, kwargs, mode?, compat? }; see docs/verify.md.",
  });
}

function bind(
  id: string,
  args: Readonly<Record<string, unknown>>,
  position: number,
  compat: Compat,
): BoundConstraint {
  const kind = CONSTRAINTS.get(id);
  if (kind === undefined) throw refused(`no constraint is called ${JSON.stringify(id.slice(0, 80))}`);
  const given = Object.fromEntries(
    Object.entries(args).filter(([, value]) => value !== null && value !== undefined),
  );
  try {
    return { id, check: kind.bind(given, compat) };
  } catch (error) {
    if (error instanceof z.ZodError) {
      const faults = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
      throw refused(`${id} (number ${position + 1}): ${faults}`);
    }
    if (error instanceof PatternError) throw refused(`${id} (number ${position + 1}): ${error.message}`);
    throw error;
  }
}

/** PipelineRL's reading of a completion: the first marked response, or all of it. */
function marked(completion: string): string {
  const lower = completion.toLowerCase();
  const begin = lower.indexOf(BEGIN);
  if (begin < 0 || lower.length !== completion.length) return completion;
  const end = lower.indexOf(END, begin + BEGIN.length);
  return end < 0 ? completion : completion.slice(begin + BEGIN.length, end);
}

const BEGIN = "[begin final response]";
const END = "[end final response]";

/** The response, without its first line, last line, both; and each of these without asterisks. Blank ones follow nothing. */
function variants(response: string): string[] {
  const lines = response.split("\n");
  const trimmed = [lines.slice(1), lines.slice(0, -1), lines.slice(1, -1)].map((kept) =>
    trim(kept.join("\n")),
  );
  const all = [response, ...trimmed];
  return [...new Set([...all, ...all.map((each) => each.replaceAll("*", ""))])].filter(
    (each) => !isBlank(each),
  );
}
