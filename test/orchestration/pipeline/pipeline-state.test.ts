import { expect, test } from "vitest";
import { pipelineStateSchema } from "../../../lib/orchestration/pipeline/pipeline-state.ts";

const state = {
  step: 3,
  draws: { nextGroup: 5, cursors: { math: 6 }, leftOut: { math: 1 } },
  sampler: { completed: { math: 12 }, picks: 5 },
  ledger: {
    math: {
      submitted: 20,
      completed: 12,
      failed: 0,
      retained: 8,
      trained: 8,
      trainedTokens: 90,
      dropped: { "zero-advantage": 4 },
    },
  },
  outstanding: [{ group: 4, domain: "math", index: 4 }],
  generatedTokens: 120,
};

test("the state of a line is kept field by field", () => {
  expect(pipelineStateSchema.parse(JSON.parse(JSON.stringify(state)))).toEqual(state);
});

test.each([
  ["a step that is no count", { step: -1 }],
  ["a group without its number", { outstanding: [{ domain: "math", index: 4 }] }],
  ["a group that says more than it should", { outstanding: [{ ...state.outstanding[0], problem: 1 }] }],
  ["no ledger", { ledger: undefined }],
  ["picks that are no count", { sampler: { ...state.sampler, picks: 0.5 } }],
])("refused: %s", (_, change) => {
  expect(pipelineStateSchema.safeParse({ ...state, ...change }).success).toBe(false);
});
