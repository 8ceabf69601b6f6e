// The expected bytes were worked out by hand from event.proto, summary.proto and tensor.proto. docs/how-to/trackers.md
// reports how TensorBoard's own reader reads such files.
import { expect, test } from "vitest";
import { Message } from "../../lib/metrics/protobuf.ts";
import {
  histogram,
  histogramsOf,
  restartEvent,
  samplesOf,
  text,
} from "../../lib/metrics/tensorboard-events.ts";
import { group, rollout } from "./tiny-facts.ts";

const hex = (message: Message | Buffer) =>
  (message instanceof Message ? message.finish() : message).toString("hex");
const f64 = (...values: number[]) => Buffer.from(Float64Array.from(values).buffer).toString("hex");

test("a restart at a step: time, step 7, session_log { status: START }", () => {
  expect(hex(restartEvent(1, 7))).toBe(`09${f64(1)}10073a020801`);
});

test("a text: tag, tensor of one string, metadata of the text plugin", () => {
  // 42 tensor { 08 07 DT_STRING | 12 04 shape { 12 02 dim { 08 01 size } } | 42 02 "hi" }; 4a metadata { 0a 06 plugin
  // { 0a 04 "text" } | 20 02 DATA_CLASS_TENSOR }
  expect(hex(text("t", "hi"))).toBe("0a0174420c0807120412020801420268694a0a0a060a047465787420" + "02");
});

/** Fields 6 (limits) and 7 (counts) of the histogram. */
function buckets(values: number[]): { limits: number[]; counts: number[]; stats: number[] } {
  const bytes = histogram("h", values).finish();
  const histo = bytes.subarray(3 + 1 + (bytes[4]! > 127 ? 2 : 1));
  const stats = [0, 1, 2, 3, 4].map((i) => histo.readDoubleLE(9 * i + 1));
  let at = 45;
  const packed = () => {
    let length = histo[at + 1]! & 127;
    const long = histo[at + 1]! > 127;
    if (long) length += histo[at + 2]! << 7;
    at += long ? 3 : 2;
    const found = Array.from({ length: length / 8 }, (_, i) => histo.readDoubleLE(at + 8 * i));
    at += length;
    return found;
  };
  return { stats, limits: packed(), counts: packed() };
}

test("a histogram has every value in the bucket below its limit", () => {
  const { stats, limits, counts } = buckets([0, 0.5, 1, 2, 29.5, 30]);
  expect(stats).toEqual([0, 30, 6, 63, 0 + 0.25 + 1 + 4 + 29.5 ** 2 + 900]);
  expect(limits).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  expect(counts).toEqual(limits.map((limit) => [2, 1, 1][limit - 1] ?? (limit === 30 ? 2 : 0)));
});

test("equal values have one bucket", () => {
  expect(buckets([4, 4, 4])).toEqual({ stats: [4, 4, 3, 12, 48], limits: [4], counts: [3] });
});

test("rollouts spread over reward, advantage, tokens and entropy; none make none", () => {
  const values = histogramsOf([group([rollout({ versions: [1, 1] })])]).map((value) =>
    value.finish().toString("latin1"),
  );
  expect(values.map((value) => /rollouts\/[a-z]+/.exec(value)?.[0])).toEqual([
    "rollouts/reward",
    "rollouts/advantage",
    "rollouts/tokens",
    "rollouts/entropy",
  ]);
  expect(histogramsOf([])).toEqual([]);
});

test("a sample is shown as text whatever it holds, and cut", () => {
  const hostile = rollout({ versions: [1] });
  const markdown = "<script>alert(1)</script>\r\n# head\u2028[x](javascript:y)\ud800";
  const long = { ...hostile, rollout: { ...hostile.rollout, text: markdown + "y".repeat(10_000) } };
  const [value, ...others] = samplesOf([group([long]), group([hostile])]).map((one) =>
    one.finish().toString(),
  );
  expect(others).toEqual([]);
  const lines = value!.slice(value!.indexOf("completion:")).split("\n");
  expect(lines.slice(2, 5)).toEqual([
    "    <script>alert(1)</script>",
    "    # head",
    expect.stringMatching(/^ {4}\[x\].*\ufffdy+ …/),
  ]);
  expect(value!.length).toBeLessThan(5_000);
});
