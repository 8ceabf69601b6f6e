import fc from "fast-check";
import { expect, test } from "vitest";
import type { AttemptTokens } from "../../../lib/native/attempt-tokens.ts";
import { attemptSections, attemptTokens } from "../../../lib/orchestration/records/attempt-sections.ts";
import { decodeMessage, encodeMessage } from "../../../lib/streams/index.ts";

const one = fc
  .record({
    attempt: fc.nat(15),
    from: fc.nat(1000),
    finish: fc.nat(3),
    length: fc.nat(20),
    version: fc.nat(9),
    rows: fc.nat(4),
  })
  .map(
    ({ attempt, from, finish, length, version, rows }): AttemptTokens => ({
      attempt,
      from,
      finish,
      tokens: Int32Array.from({ length }, (_, i) => i * 7 + attempt),
      logprobs: Float32Array.from({ length }, (_, i) => -i / 3),
      entropies: Float32Array.from({ length }, (_, i) => i / 5),
      versions: Uint32Array.from({ length }, (_, i) => version + Math.floor(i / 6)),
      oldestKv: new Uint32Array(length).fill(version),
      ...(rows > 0 && {
        routes: { width: 3, bytes: Uint8Array.from({ length: 3 * rows }, (_, i) => i + attempt) },
      }),
    }),
  );

test("tokens of attempts come back to the bit", () => {
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), (all) => {
      const message = { kind: "x", header: {}, sections: attemptSections(all) };
      expect(attemptTokens(decodeMessage(encodeMessage(message)))).toEqual(all);
    }),
  );
});

test("a message without them has none; arrays that are missing are named", () => {
  expect(attemptTokens({ kind: "x", header: {}, sections: {} })).toEqual([]);
  const { logprobs: _, ...rest } = attemptSections([]);
  expect(() => attemptTokens({ kind: "x", header: {}, sections: rest })).toThrow('no array "logprobs"');
});
