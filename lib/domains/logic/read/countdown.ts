import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";

const number = z.int().nonnegative();
const rowSchema = z.object({ nums: z.array(number).min(1).max(20), target: z.int() });

const TEMPLATE =
  "{task} Use + - * / and parentheses, and each number exactly once. End with the expression alone between <answer> and </answer>.";

export interface CountdownOptions extends DatasetOptions {
  /** Default: the recipe's name of the domain. */
  readonly domain?: string | undefined;
}

/**
 * Rows { nums, target } of Countdown, for any domain: Jiayi-Pan/Countdown-Tasks-3to4, and users' own rows. The
 * verifier `countdown` judges them unless the recipe has a reward.
 */
export function countdown({ domain = "countdown" }: CountdownOptions): RowReader<CountdownOptions> {
  return {
    domain,
    verifier: "countdown",
    options: { domain: z.string().min(1).optional() },
    columns: Object.keys(rowSchema.shape),
    open({ template = TEMPLATE }) {
      return ({ value }) => {
        const row = readFields(rowSchema, value);
        if (isBad(row)) return row;
        const { nums, target } = row;
        return {
          content: `${nums.join(" ")} = ${target}`,
          question: fill(template, `Make ${target} from the numbers ${nums.join(", ")}.`),
          family: "countdown",
          level: 0,
          reference: { nums, target },
        };
      };
    },
  };
}
