import { FAMILIES } from "../../lib/domains/families.ts";
import { CounterRandom } from "../../lib/random.ts";
import { SUM_REFERENCE } from "../fixtures/testlib/checkers.ts";

/**
 * Right answers for every registered verifier, from the problem families that name the verifier or from rows here. A
 * new verifier without a family needs a row.
 */
export interface Example {
  readonly reference: unknown;
  readonly answer: string;
  /** Answers to other problems of the same family and level. */
  readonly others: readonly string[];
}

const AREA_ENTRY = {
  id: "multiple_0",
  function: ["geo.area", "geo.length"].map((name) => ({
    name,
    parameters: {
      type: "dict",
      properties: { side: { type: "integer" }, unit: { type: "string" } },
      required: ["side"],
    },
  })),
  ground_truth: [{ "geo.area": { side: [7], unit: ["", "cm"] } }],
};

const OWN_EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  choice: [
    {
      reference: { answer: "C", choices: 4, style: "gpqa" },
      answer: "Answer: C",
      others: ["Answer: B", "C or D", "The answer is (C)", "E"],
    },
    {
      reference: { answer: "J", choices: 10, style: "mmlu-pro" },
      answer: "The answer is (J).",
      others: ["The answer is (A).", "\\boxed{J}", "Jupiter"],
    },
  ],
  code: [
    {
      reference: { input_output: { inputs: ["3"], outputs: ["6"] } },
      answer: "```python\nprint(2 * int(input()))\n```",
      others: ["```python\nprint(int(input()))\n```", "print(6)", "```python\nprint(\n```"],
    },
    {
      reference: { input_output: { fn_name: "f", inputs: [[3]], outputs: [[[1, 3]]] } },
      answer: "```python\ndef f(x):\n    return 1, x\n```",
      others: ["```python\ndef f(x):\n    return x\n```"],
    },
  ],
  checker: [
    {
      reference: SUM_REFERENCE,
      answer: '```python\nprint({"5": "1 4", "7": "9 -2"}[input()])\n```',
      others: ['```python\nprint("2 3")\n```', "2 3", "```python\nprint(\n```"],
    },
  ],
  countdown: [
    {
      reference: { nums: [8, 3, 8, 3], target: 24 },
      answer: "<answer>8 / (3 - 8 / 3)</answer>",
      others: ["<answer>44 + 19 + 35</answer>", "8 / (3 - 8 / 3)", "<answer>8 * 3</answer>", "\\boxed{24}"],
    },
  ],
  "function-calling": [
    {
      reference: { entry: AREA_ENTRY },
      answer: "[geo.area(side=7, unit='cm')]",
      others: ["[geo.area(side=8)]", "[geo.length(side=7)]", "[]", "geo.area(7)", "[geo.area(side=7)]"],
    },
  ],
  "instruction-following": [
    {
      reference: {
        instruction_id_list: ["copy:copy", "keywords:existence"],
        kwargs: [{ prompt_to_repeat: "Say that again" }, { keywords: ["again"] }],
      },
      answer: "say that again",
      others: ["Again!", "say that", "AGAIN AND AGAIN"],
    },
    {
      reference: {
        instruction_id_list: ["copy:copying_multiple"],
        kwargs: [{ prompt_to_repeat: "once more", N: 2 }],
      },
      answer: "once more\n******\nonce more",
      others: ["once more", "******"],
    },
  ],
  assertions: [
    {
      reference: { entryPoint: "add", tests: ["assert add(1, 2) == 3", "assert add(b=1, a=-1) == 0"] },
      answer: "```python\ndef add(a, b):\n    return a + b\n```",
      others: [
        "```python\ndef add(a, b):\n    return 3\n```",
        "def add(a, b):\n    return a + b",
        "```python\n3\n```",
      ],
    },
  ],
  logic: [
    {
      reference: { task: "boolean_expressions", game_data: { answer: "A,C" } },
      answer: "\\boxed{A, C}",
      others: ["\\boxed{A}", "\\boxed{A,B,C}", "A, C"],
    },
    {
      reference: {
        task: "mathador",
        game_data: { metadata: { numbers: [3, 3, 8, 8], operators: ["+", "-", "*", "/"], result: 24 } },
      },
      answer: "```python\n8/(3-8/3)\n```",
      others: ["```python\n8*3\n```", "```python\n8**3\n```", "24"],
    },
  ],
  math: [
    {
      reference: { answer: "\\frac{1}{2}" },
      answer: "\\boxed{0.5}",
      others: ["\\boxed{2}", "\\boxed{x=3}", "0.5"],
    },
    {
      reference: { answer: "(1,2)" },
      answer: "\\boxed{(1, 2)}",
      others: ["\\boxed{(2,1)}", "\\boxed{[1,2]}"],
    },
    {
      reference: { answer: "x^2-1" },
      answer: "\\boxed{(x-1)(x+1)}",
      others: ["\\boxed{x^2+1}", "\\boxed{}"],
    },
  ],
};

export function examplesFor(verifier: string): readonly Example[] {
  const drawn = FAMILIES.filter((family) => family.verifier === verifier).flatMap((family) =>
    Array.from({ length: 12 }, (_, i) => {
      const level = i % 4;
      const draft = family.draw(new CounterRandom(21, i), level);
      const others = [1, 2, 3].map((k) => family.draw(new CounterRandom(21, i, k), level).answer);
      return { reference: draft.reference, answer: draft.answer, others };
    }),
  );
  return [...drawn, ...(OWN_EXAMPLES[verifier] ?? [])];
}

export const respond = (answer: string): string => `<think>working</think>${answer}<eos>`;
