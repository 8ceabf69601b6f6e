import { z } from "zod";
import { HoneError } from "../errors.ts";
import { textLines } from "../shared/files/text-lines.ts";
import { type Agreement, agreementOf, type Found, foundOf } from "./agreement.ts";
import { CATEGORIES, type Category, type Step } from "./categories.ts";
import { atOnce } from "./read-traces.ts";
import type { Labels, Reader, Trace } from "./trace.ts";

/** A trace divided into steps and labelled by hand. */
export interface HandTrace {
  /** Name of the set to which the trace belongs; sets are graded separately. */
  readonly set: string;
  readonly trace: Trace;
  readonly steps: readonly Step[];
  readonly labels: readonly Category[];
}

const lineSchema = z.object({
  set: z.string().default("all"),
  question: z.string().optional(),
  steps: z
    .array(
      z.object({
        /** Text between this step and the previous one: white space, thinking marks. */
        before: z.string().default("\n\n"),
        text: z.string().min(1),
        category: z.enum(CATEGORIES),
      }),
    )
    .min(1),
});

/**
 * Reads a file of traces labelled by hand, one JSON object per line. Throws HONE_ERR_DATA naming the line,
 * HONE_ERR_IO.
 */
export async function readHand(path: string): Promise<HandTrace[]> {
  const traces: HandTrace[] = [];
  let number = 0;
  for await (const line of textLines(path)) {
    number += 1;
    if (line.trim() !== "") traces.push(handTrace(`${path}:${number}`, line, number));
  }
  if (traces.length === 0) throw new HoneError("HONE_ERR_DATA", `${path} has no traces`);
  return traces;
}

function handTrace(where: string, line: string, number: number): HandTrace {
  const parsed = lineSchema.safeParse(jsonOf(line));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new HoneError(
      "HONE_ERR_DATA",
      `${where}: no labelled trace: ${issue!.path.join(".") || "the line"}: ${issue!.message}`,
      { hint: '{"set": "...", "steps": [{"before": "\\n\\n", "text": "...", "category": "..."}]}' },
    );
  }
  const { set, question, steps } = parsed.data;
  let text = "";
  let place: Step["place"] = "thought";
  const placed = steps.map((step): Step => {
    const from = text.length;
    if (step.before.includes("</think>")) place = "answer";
    text += step.before + step.text;
    return { text: step.text, from, to: text.length, place };
  });
  const trace = { problem: String(number), question, text, tokens: undefined, correct: undefined };
  return { set, trace, steps: placed, labels: steps.map(({ category }) => category) };
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Agreement of a reader's labels and steps with those by hand. */
export interface Grade {
  readonly set: string;
  readonly traces: number;
  readonly steps: number;
  /** Fraction of the hand-made steps that got a label. */
  readonly labelled: number;
  readonly agreement: Agreement | undefined;
  readonly categories: readonly Found[];
  /** Precision and recall of step ends, without the end of the trace. */
  readonly ends: Found;
  /** Traces that an outage left ungraded. */
  readonly outages: number;
}

/**
 * Grades a reader, set by set in the file's order: the reader labels the hand-made steps, and also divides
 * the texts itself.
 */
export async function gradeReader(reader: Reader, traces: readonly HandTrace[], width = 1): Promise<Grade[]> {
  const graded = await atOnce(traces, width, (hand) => gradeTrace(reader, hand));
  return [...new Set(traces.map(({ set }) => set))].map((set) => {
    const own = graded.flatMap((grade, i) => (traces[i]!.set === set ? [grade] : []));
    const known = own.filter((grade) => grade !== undefined);
    const pairs = known.flatMap((grade) => grade.pairs);
    return {
      set,
      traces: known.length,
      steps: pairs.length,
      labelled: pairs.filter(([, label]) => label !== undefined).length,
      agreement: agreementOf(pairs),
      categories: CATEGORIES.map((category) => foundOf(category, pairs)),
      ends: foundOf(
        END,
        known.flatMap((grade) => grade.ends),
      ),
      outages: own.length - known.length,
    };
  });
}

const END = "end of a step";
type Pair = readonly [string | undefined, string | undefined];

async function gradeTrace(
  reader: Reader,
  { trace, steps, labels }: HandTrace,
): Promise<{ readonly pairs: readonly Pair[]; readonly ends: readonly Pair[] } | undefined> {
  const given = await reader.label(trace, steps);
  const read = await reader.read(trace);
  if ("outage" in given || (typeof read === "object" && "outage" in read)) return undefined;
  const found = typeof read === "string" ? [] : endsOf(trace.text, read.steps);
  const wanted = endsOf(trace.text, steps);
  const places = [...new Set([...wanted, ...found])];
  const mark = (list: readonly number[], at: number) => (list.includes(at) ? END : undefined);
  return { pairs: pairsOf(labels, given), ends: places.map((at) => [mark(wanted, at), mark(found, at)]) };
}

const pairsOf = (hand: readonly Category[], given: Labels): Pair[] =>
  hand.map((category, i) => [category, given[i]]);

/** Ends of steps, counted without white space and thinking marks, which may belong to either side. */
const endsOf = (text: string, steps: readonly Step[]): number[] =>
  steps.slice(0, -1).map(({ to }) => text.slice(0, to).replaceAll(/<\/?think>|\s/g, "").length);
