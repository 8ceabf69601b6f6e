import { z } from "zod";
import { HoneError } from "../../errors.ts";
import type { CaseReader } from "../verify-case.ts";
import { math } from "./verify.ts";

const rowSchema = z.union([
  z.object({
    response: z.string(),
    gold: z.union([z.string(), z.array(z.string())]),
    after: z.string().optional(),
  }),
  z.object({ pred: z.string(), gold: z.string() }),
]);

/** Marks that set formulas off from words; a text with one of them is not a bare formula. */
const SET_OFF = /\\boxed|\$|\\\[|\\\(/;

/**
 * Reads { response, gold, after? }: a completion and the answer its last box must equal, or the text behind the last
 * `after`; or { pred, gold }: two answers, each a bare formula or a text that states one.
 */
export const readCase: CaseReader = (row) => {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) {
    const found = Object.entries(row).map(([field, value]) => `${field}: ${typeof value}`);
    throw new HoneError(
      "HONE_ERR_DATA",
      `math case: needs texts "gold" and "response" (or "pred"), has ${found.join(", ") || "no field"}`,
    );
  }
  if ("response" in parsed.data) {
    const { response, gold, after } = parsed.data;
    const completion = { text: response, finish: "stop" as const };
    return { verifier: math, completion, reference: { answer: gold, ...(after !== undefined && { after }) } };
  }
  const { pred, gold } = parsed.data;
  const completion = { text: SET_OFF.test(pred) ? pred : `\\boxed{${pred}}`, finish: "stop" as const };
  return { verifier: math, completion, reference: { answer: gold, anywhere: SET_OFF.test(pred) } };
};
