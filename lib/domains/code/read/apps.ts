import { programs } from "./programs.ts";

/**
 * APPS: introductory, interview and competition problems. Rows without tests, as its test split has some, are left out.
 * Source: Hendrycks et al. 2021, data set card codeparrot/apps.
 */
export const apps = programs([], { file: "train.jsonl", rows: sampleRows });

function sampleRows(): unknown[] {
  const fn_name = "scale";
  return [2, 3, 4, 5, 6].map((factor) => ({
    problem_id: factor,
    question: `Return ${factor} times the number.`,
    input_output: JSON.stringify({ fn_name, inputs: [[1], [-3]], outputs: [factor, -3 * factor] }),
    difficulty: "introductory",
    url: "",
    starter_code: "def scale(n):\n\t",
    solutions: JSON.stringify([`def scale(n):\n    return ${factor} * n`]),
  }));
}
