import { programs } from "./programs.ts";

/**
 * TACO: problems of programming contests. Without HARD and VERY_HARD unless the recipe names others.
 * Source: FlagOpen/TACO, data set card BAAI/TACO.
 */
export const taco = programs(["HARD", "VERY_HARD"], { file: "train.jsonl", rows: sampleRows });

function sampleRows(): unknown[] {
  return [2, 3, 4, 5, 6].map((factor) => ({
    question: `Read an integer and print ${factor} times its value.`,
    input_output: JSON.stringify({ inputs: ["1\n", "-3\n"], outputs: [`${factor}\n`, `${-3 * factor}\n`] }),
    difficulty: "EASY",
    solutions: JSON.stringify([`print(${factor} * int(input()))`]),
  }));
}
