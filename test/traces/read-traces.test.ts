import { expect, test } from "vitest";
import { atOnce, readSide } from "../../lib/traces/read-traces.ts";
import type { Reader, Trace } from "../../lib/traces/trace.ts";

test("keeps the order, works on so many at once, and hands an error on", async () => {
  let [now, most] = [0, 0];
  const doubled = await atOnce([30, 10, 20, 5, 1], 2, async (ms) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, ms));
    now -= 1;
    return 2 * ms;
  });
  expect(doubled).toEqual([60, 20, 40, 10, 2]);
  expect(most).toBe(2);
  await expect(atOnce([1], 3, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("what was not read is counted by why, and is not among what was", async () => {
  const trace = (problem: string): Trace => ({
    problem,
    question: undefined,
    text: "",
    tokens: 1,
    correct: true,
  });
  const reader: Reader = {
    name: "r",
    label: async () => [],
    read: async (one) =>
      one.problem === "u"
        ? "unsplit"
        : one.problem === "o"
          ? { outage: "down" }
          : { trace: one, steps: [], labels: [] },
  };
  let told = 0;
  const side = { name: "s", traces: ["a", "o", "u", "o", "b"].map(trace) };
  const read = await readSide(side, reader, { width: 2, each: () => told++ });
  expect(read).toMatchObject({ name: "s", outages: { down: 2 }, unsplit: 1 });
  expect(read.read.map(({ trace: { problem } }) => problem)).toEqual(["a", "b"]);
  expect(told).toBe(5);
});
