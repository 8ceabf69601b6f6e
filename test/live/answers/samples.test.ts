import { expect, test } from "vitest";
import { natural, samples } from "../../../lib/live/answers/samples.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { query, SampleIndex } from "../../../lib/samples/index.ts";
import { boxed, ConstructedRun } from "../../samples/constructed-run.ts";
import { smallRun } from "../live-run.ts";

const asked = (text: string) => ({ query: new URLSearchParams(text), watch });
let watch: Watch;

function runOfSamples(): string {
  const dir = smallRun(2);
  using run = new ConstructedRun(dir);
  for (let s = 1; s <= 3; s++)
    run.step(
      {
        problem: 1,
        said: [
          { text: boxed(s), status: "correct" },
          { text: "x".repeat(2_000_000), finish: "length" },
        ],
      },
      {
        problem: 2,
        domain: "code",
        said: [{ text: `<think>a</think>b\u202e ${s}`, tokens: 10 * s, versions: [s, s] }],
      },
    );
  return dir;
}

test("conditions of the address are those of the index, a page of it, each with a line of what it says", async () => {
  const dir = runOfSamples();
  watch = new Watch([dir]);
  const index = await SampleIndex.open(dir);
  for (const [text, filter] of [
    ["", {}],
    ["steps=2..", { steps: [2, 9] }],
    ["domain=code&steps=2", { domain: "code", steps: [2, 2] }],
    ["problem=1&attempt=0", { problem: 1, attempt: 0 }],
    ["status=correct", { statuses: ["correct"] }],
    ["tokens=20..30", { tokens: [20, 30] }],
    ["versions=3", { versions: [3, 3] }],
    ["truncated=1", { truncated: true }],
    ["wrongButLong=1", { wrongButLong: true }],
    ["flippedSince=1", { flippedSince: 1 }],
    ["domain=&problem=&steps=", {}],
  ] as const) {
    const want = query(index, filter);
    const answer = (await samples(asked(text)))!;
    expect(answer.total, text).toBe(want.total);
    expect(answer.samples.map(({ excerpt: _, ...one }) => one)).toEqual(want.samples);
  }
  const [first, second] = (await samples(asked("order=oldest&offset=1&limit=2")))!.samples;
  expect([first!.excerpt, second!.excerpt]).toEqual(["2000000 characters", "b\\u202e 1"]);
});

test.each(["steps=a", "problem=-1", "order=best-of-all", "limit=x"])("%s is refused", async (text) => {
  watch = new Watch([runOfSamples()]);
  await expect(samples(asked(text))).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("a run that has judged nothing has none; what it writes then is there at the next question", async () => {
  const dir = smallRun(1);
  watch = new Watch([dir]);
  expect(await samples(asked(""))).toBeNull();
  using run = new ConstructedRun(dir);
  run.step({ said: [{ text: "a" }] });
  expect((await samples(asked("")))!.total).toBe(1);
  run.step({ said: [{ text: "b" }, { text: "c" }] });
  expect((await samples(asked("")))!.total).toBe(3);
});

test("a number that is not given is undefined", () => {
  const query = new URLSearchParams("a=&b=7");
  expect([natural(query, "a"), natural(query, "b"), natural(query, "c")]).toEqual([undefined, 7, undefined]);
});
