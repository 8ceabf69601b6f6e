import { z } from "zod";
import type { Recipe } from "../config/index.ts";
import { type CaseReader, rewardName, type Verifier } from "../domains/index.ts";
import { HoneError } from "../errors.ts";

const rowSchema = z.object({
  prompt: z.string().default(""),
  response: z.string(),
  reference: z.unknown().optional(),
  /** Verifier that judges the part "verifier" of a reward; default: the verifier with the domain's name. */
  verifier: z.string().optional(),
  finish: z.enum(["eos", "stop", "length"]).default("stop"),
});

/**
 * Reads { prompt, response, reference } for the reward of a domain or validation set. Throws HONE_ERR_USAGE if the
 * recipe gives it none.
 */
export function rewardReader({ name, domains, evaluation }: Recipe, domain: string): CaseReader {
  const judged = { ...evaluation.sets, ...domains };
  const found = Object.hasOwn(judged, domain) ? judged[domain] : undefined;
  if (found?.reward === undefined && found?.rewards === undefined) {
    const own = Object.keys(judged).filter((d) => judged[d]!.reward ?? judged[d]!.rewards);
    throw new HoneError(
      "HONE_ERR_USAGE",
      `recipe ${name} gives no reward for domain ${JSON.stringify(domain)}`,
      {
        hint:
          own.length > 0 ? `It does for ${own.join(", ")}.` : "Leave --recipe out for a built-in verifier.",
      },
    );
  }
  const verifier = { name: rewardName(domain) } as Verifier;
  return (row) => {
    const parsed = rowSchema.safeParse(row);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new HoneError(
        "HONE_ERR_DATA",
        `reward case: ${issue!.path.join(".") || "row"}: ${issue!.message}`,
      );
    }
    const { prompt, response, reference, finish, verifier: named = domain } = parsed.data;
    return {
      verifier,
      completion: { text: response, finish },
      reference: { prompt, verifier: named, reference },
    };
  };
}
