// The verifier bench's cases, by domain: a case file of the acceptance data, or generated cases on machines without
// that data. Floors are verdicts per second of processor time, including the time to read the reference.

/**
 * Makes at least `count` cases `{ verifier, reference, text }`: repeatedly combines each reference with each of its
 * texts.
 */
function repeated(verifier, groups, count = 1000) {
  const once = groups.flatMap(([reference, texts]) => texts.map((text) => ({ verifier, reference, text })));
  return Array.from({ length: Math.ceil(count / once.length) }, () => once).flat();
}

const AREA = {
  id: "multiple_0",
  function: ["geo.area", "geo.length"].map((name) => ({
    name,
    description: "Computes a measure of a figure.",
    parameters: {
      type: "dict",
      properties: {
        side: { type: "integer" },
        unit: { type: "string" },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["side"],
    },
  })),
  ground_truth: [{ "geo.area": { side: [7], unit: ["", "cm"], tags: ["", ["a", "b"]] } }],
};
const call = (side, name = "geo_area") =>
  `<tool_calls>[{"name": "${name}", "arguments": {"side": ${side}, "unit": "cm", "tags": ["a", "b"]}}]</tool_calls>`;

const MATH = [
  ["\\frac{300}{7}", ["\\boxed{\\frac{300}{7}}", "\\boxed{42.857}", "\\boxed{\\dfrac{600}{14}}", "no box"]],
  ["\\frac{1}{2}(e^{2}-e^{-2})", ["\\boxed{\\frac{e^2-e^{-2}}{2}}", "\\boxed{\\sinh(2)}", "\\boxed{e^2}"]],
  ["(1, 2] \\cup [3, \\infty)", ["\\boxed{(1,2]\\cup[3,\\infty)}", "\\boxed{(1,2)\\cup[3,\\infty)}"]],
  ["x^2-1", ["\\boxed{(x-1)(x+1)}", "\\boxed{x^2+1}"]],
  ["17", ["\\boxed{17}", "\\boxed{17.0}", "\\boxed{\\sqrt{289}}", "\\boxed{18}"]],
];

const ESSAY =
  "Rivers shape the land they cross. They carry silt, and towns grow where they bend! Do they ever rest? ";
const CONSTRAINTS = {
  instruction_id_list: [
    "length_constraints:number_words",
    "keywords:existence",
    "punctuation:no_comma",
    "detectable_format:number_bullet_lists",
    "length_constraints:number_sentences",
  ],
  kwargs: [
    { num_words: 20, relation: "at least" },
    { keywords: ["river"] },
    null,
    { num_bullets: 2 },
    { num_sentences: 6, relation: "at least" },
  ],
};

const PROGRAM = "```python\nprint(sum(int(x) for x in input().split()))\n```";

export const CASE_SOURCES = [
  {
    domain: "math",
    file: "math/boxed_cases.jsonl",
    floor: 1000,
    made: () =>
      repeated(
        "math",
        MATH.map(([answer, texts]) => [{ answer }, texts]),
      ),
  },
  {
    domain: "instruction-following",
    file: "ifeval/ifevalg_cases.jsonl",
    floor: 500,
    made: () =>
      repeated("instruction-following", [[CONSTRAINTS, [ESSAY, ESSAY.repeat(8), `* a\n* b\n${ESSAY}`]]]),
  },
  {
    domain: "logic",
    file: "logic/cases.jsonl",
    made: () =>
      repeated("logic", [
        [
          { task: "boolean_expressions", game_data: { answer: "A,C" } },
          ["\\boxed{A, C}", "\\boxed{B}", "none"],
        ],
      ]),
  },
  {
    domain: "function-calling",
    file: "bfcl/cases_toolcalls.jsonl",
    floor: 5000,
    made: () =>
      repeated("function-calling", [
        [{ entry: JSON.stringify(AREA) }, [call(7), call(8), call(7, "f"), "no"]],
      ]),
  },
  {
    domain: "function-calling",
    file: "bfcl/cases_pycall.jsonl",
    floor: 5000,
    made: () =>
      repeated("function-calling", [
        [
          { entry: JSON.stringify(AREA) },
          ["[geo.area(side=7, unit='cm', tags=['a', 'b'])]", "[geo.area(side=8)]"],
        ],
      ]),
  },
  {
    domain: "code",
    file: "code/verdict_cases.jsonl",
    most: 100,
    floors: { bubblewrap: 100, wasm: 15 },
    made: () => repeated("code", [[{ input_output: { inputs: ["1 2 3"], outputs: ["6"] } }, [PROGRAM]]], 6),
  },
];
