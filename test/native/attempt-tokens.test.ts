import { expect, test } from "vitest";
import { type AttemptTokens, firstTokens, joinedTokens } from "../../lib/native/attempt-tokens.ts";

const tokens = (attempt: number, from: number, ids: number[], finish = 0): AttemptTokens => ({
  attempt,
  from,
  tokens: Int32Array.from(ids),
  logprobs: Float32Array.from(ids, (id) => -id / 4),
  entropies: Float32Array.from(ids, (id) => id / 8),
  versions: Uint32Array.from(ids, (id) => id + 1),
  oldestKv: Uint32Array.from(ids, (id) => id + 2),
  finish,
});

const PROMPT = 3;
/** Two bytes a row: those of tokens [from, to), and, from 0 on, of the prompt. */
function routed(all: AttemptTokens, seed = 0): AttemptTokens {
  const [first, end] = [
    all.from === 0 ? 0 : PROMPT - 1 + all.from,
    PROMPT - 1 + all.from + all.tokens.length,
  ];
  const bytes = Uint8Array.from({ length: 2 * (end - first) }, (_, i) => seed + 2 * first + i);
  return { ...all, routes: { width: 2, bytes } };
}

test("routes are joined and cut with their tokens; what begins again has those of its own prompt", () => {
  const whole = routed(tokens(0, 0, [5, 6, 7]));
  expect(joinedTokens([routed(tokens(0, 0, [5, 6]))], [routed(tokens(0, 2, [7]))])).toEqual([whole]);
  expect(firstTokens(whole, 1)).toEqual(routed(tokens(0, 0, [5])));
  const again = routed(tokens(0, 0, [8, 9]), 100);
  expect(joinedTokens([whole], [again])).toEqual([again]);
  expect(joinedTokens([whole], [routed(tokens(0, 1, [9]))])).toEqual([routed(tokens(0, 0, [5, 9]))]);
  expect(joinedTokens([tokens(0, 0, [5])], [routed(tokens(0, 1, [9]))])[0]!.routes).toBeUndefined();
});

test("what follows is joined, attempt by attempt", () => {
  const before = [tokens(0, 0, [5, 6]), tokens(2, 0, [7])];
  const after = [tokens(2, 1, [8, 9], 1), tokens(1, 0, [4]), tokens(0, 2, [])];
  expect(joinedTokens(before, after)).toEqual([
    tokens(0, 0, [5, 6]),
    tokens(2, 0, [7, 8, 9], 1),
    tokens(1, 0, [4]),
  ]);
});

test.each([
  ["from further on", tokens(0, 3, [9])],
  ["of an attempt that does not begin", tokens(1, 1, [9])],
])("what does not follow is left out: %s", (_, after) => {
  expect(joinedTokens([tokens(0, 0, [5, 6])], [after])).toEqual([tokens(0, 0, [5, 6])]);
});

test.each([
  ["in the middle", tokens(0, 1, [9]), [tokens(0, 0, [5, 9])]],
  ["at the beginning", tokens(0, 0, [8, 9], 1), [tokens(0, 0, [8, 9], 1)]],
])("what somebody sampled who went on %s takes the place of what was behind", (_, after, whole) => {
  expect(joinedTokens([tokens(0, 0, [5, 6, 7])], [after])).toEqual(whole);
  expect(joinedTokens([tokens(0, 0, [5, 6, 7], 2)], [after, after])).toEqual(whole);
});

test("nothing follows an attempt's end", () => {
  expect(joinedTokens([tokens(0, 0, [5, 6], 1)], [tokens(0, 2, [7])])).toEqual([tokens(0, 0, [5, 6], 1)]);
});

test("an attempt that is cut goes on; one that is shorter stays as it is", () => {
  expect(firstTokens(tokens(0, 0, [5, 6, 7], 2), 2)).toEqual(tokens(0, 0, [5, 6]));
  expect(firstTokens(tokens(0, 0, [5, 6, 7], 2), 3)).toEqual(tokens(0, 0, [5, 6, 7], 2));
  expect(firstTokens(tokens(0, 0, [5]), 0)).toEqual(tokens(0, 0, []));
});
