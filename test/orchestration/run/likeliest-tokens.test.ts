import { expect, test } from "vitest";
import { firstOf } from "../../../lib/orchestration/run/likeliest-tokens.ts";

const scores = {
  logprobs: Float32Array.of(-1, -2),
  teacherIds: Int32Array.of(12, 3, 11, 1, 7, 2, 10, 5),
  teacherTopLogprobs: Float32Array.of(-0.25, -0.5, -1, -2, -0.125, -0.5, -1, -4),
};

test("tokens beyond the model's vocabulary leave a teacher's lists, and the likeliest others stay", () => {
  expect(firstOf(scores, 2, 4, 10)).toEqual({
    logprobs: scores.logprobs,
    teacherIds: Int32Array.of(3, 1, 7, 2),
    teacherTopLogprobs: Float32Array.of(-0.5, -2, -0.125, -0.5),
  });
});

test("lists of a teacher of the model's vocabulary stay as they are", () => {
  expect(firstOf(scores, 4, 4, 13)).toEqual(scores);
  expect(firstOf({ logprobs: scores.logprobs }, 2, 2, 10)).toEqual({ logprobs: scores.logprobs });
});
