import { expect, test } from "vitest";
import {
  decodeBytes,
  decodeIds,
  decodeLogprobs,
  encode,
  encodeIds,
} from "../../../lib/orchestration/records/encoded-arrays.ts";

test("ids are little-endian words in base64, and come back", () => {
  expect(encodeIds(Int32Array.of(1, -2))).toBe(
    Buffer.from([1, 0, 0, 0, 254, 255, 255, 255]).toString("base64"),
  );
  expect(decodeIds("AQAAAP7///8=")).toEqual(Int32Array.of(1, -2));
});

test("log-probs come back to the bit, bytes as they are; a view has its own alone", () => {
  const logprobs = Float32Array.of(-0, -1 / 3, -1e-40, Number.NEGATIVE_INFINITY);
  expect(decodeLogprobs(encode(logprobs.subarray(1)))).toEqual(logprobs.subarray(1));
  expect(decodeBytes(encode(Uint8Array.of(9, 0, 255, 7).subarray(1)))).toEqual(Uint8Array.of(0, 255, 7));
});
