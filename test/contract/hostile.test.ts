// Gives every registered verifier a thousand completions that are made to hang, exhaust or confuse it, through the
// pool. None may exceed its time limit, end the pool or count as a fault of ours.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, expect, test } from "vitest";
import { VERIFIERS } from "../../lib/domains/index.ts";
import type { Problem } from "../../lib/records.ts";
import { VerifierPool } from "../../lib/rewards/index.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { examplesFor, respond } from "./examples.ts";

const DEEP = 100_000;
const TEN_MEGABYTES = 10_000_000;
const GROUP = 16;

/** Brackets and operators of every language that a verifier reads, repeated without an end. */
const UNITS = [
  ..."[({<'\"\\-+*^_$&#`,.:;=9 \n\t\0",
  "\\boxed{",
  "\\frac{",
  "\\sqrt[3]{",
  "\\left(",
  "\\begin{matrix}",
  "x^{",
  "\\sum_{n=1}^{",
  "\\{1,",
  "2**",
  "1+",
  "{a:",
  '{"a":',
  "[[1,",
  "f(a=",
  "f'{",
  "lambda:",
  "<tool_calls>",
  "<tool_calls>[",
  "```python\n",
  "```",
  "<think>",
  "</think>",
  "[BEGIN FINAL RESPONSE]",
  "******",
  "\n\n",
  "* a\n",
  "a. ",
  "(a+)+$",
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
  "İſ",
  "e\u0301",
  "👩‍👩‍👧",
  "\ud800",
  "\u202e",
];

const PROTOTYPE_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "__defineGetter__",
];

/** Short texts whose evaluation takes long. */
const BOMBS = [
  "\\boxed{9^{9^{9^{9}}}}",
  "\\boxed{100000!}",
  "\\boxed{2^{1000000000}}",
  "\\boxed{\\sum_{n=1}^{1000000000000} \\sin(n)}",
  "\\boxed{\\binom{1000000}{500000}}",
  "\\boxed{(x+y+z+w)^{1000}}",
  `\\boxed{${"9".repeat(900)}^{${"9".repeat(90)}}}`,
  `\\boxed{${"\\sqrt{1+".repeat(120)}1${"}".repeat(120)}}`,
  "[f(a=9**9**9)]",
  "[f(a='a'*10**12)]",
  "[f(a=1<<10**9)]",
  `[geo.area(side=${"9".repeat(4300)})]`,
  `<tool_calls>[{"name": "geo_area", "arguments": {"side": ${"9".repeat(DEEP)}}}]</tool_calls>`,
  `<tool_calls>${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}</tool_calls>`,
  `[${"[".repeat(DEEP)}${"]".repeat(DEEP)}]`,
  `\\boxed{${"{".repeat(DEEP)}${"}".repeat(DEEP)}}`,
];

function hostileTexts(): string[] {
  const endless = UNITS.map((unit) => unit.repeat(Math.ceil(DEEP / unit.length)));
  const keys = PROTOTYPE_KEYS.flatMap((key) => [
    key,
    `\\boxed{${key}}`,
    `[${key}(${key}=1)]`,
    `<tool_calls>{"${key}": {"${key}": 1}}</tool_calls>`,
  ]);
  const huge = ["a", "1 ", "[", "</think>", "ab\n"].map((unit) => unit.repeat(TEN_MEGABYTES / unit.length));
  return [...endless, ...keys, ...BOMBS, ...huge];
}

/**
 * Milliseconds by which the watchdog may be late: 100, plus the longest time for which the machine did not run this
 * thread.
 */
const lag = monitorEventLoopDelay({ resolution: 10 });
lag.enable();
const allowedMs = () => 100 + lag.max / 1e6;

const pool = new VerifierPool({ workers: 1 });
afterAll(() => pool.close());

const problemOf = (verifier: string): Problem => {
  const { reference } = examplesFor(verifier)[0]!;
  return { id: 1, domain: "any", family: "hostile", level: 0, question: "?", verifier, reference };
};

test.runIf(longest)(
  "a thousand hostile completions cost no verifier more than its limit, and leave the pool alive",
  async () => {
    const texts = hostileTexts();
    const names = VERIFIERS.map(({ name }) => name);
    expect(texts.length * names.length).toBeGreaterThanOrEqual(1000);
    const faults: string[] = [];
    for (const name of names) {
      const problem = problemOf(name);
      for (let start = 0; start < texts.length; start += GROUP) {
        const group = texts
          .slice(start, start + GROUP)
          .map((text) => ({ problem, text: respond(text), finish: "eos" as const }));
        for (const [i, verdict] of (await pool.verify(group)).entries()) {
          const fine = verdict.status !== "unscored" && verdict.score < 1;
          if (!fine) faults.push(`${name}: ${texts[start + i]!.slice(0, 30)}: ${JSON.stringify(verdict)}`);
        }
      }
      const { answer } = examplesFor(name)[0]!;
      const [after] = await pool.verify([{ problem, text: respond(answer), finish: "eos" }]);
      expect([name, after!.status]).toEqual([name, "correct"]);
    }
    expect(faults).toEqual([]);
    const overruns = Object.entries(pool.stats()).filter(([, { overrunMs }]) => overrunMs > allowedMs());
    expect(overruns.map(([name, { overrunMs }]) => `${name}: ${overrunMs} ms over`)).toEqual([]);
  },
  patient(120_000),
);

test("a verifier that hangs is given up within 100 ms of its limit", async () => {
  const modules = { obedient: new URL("../fixtures/verifiers/obedient.mjs", import.meta.url) };
  await using small = new VerifierPool({ workers: 1, modules, limits: { obedient: { timeoutMs: 300 } } });
  const problem = { ...problemOf("math"), verifier: "obedient", reference: "ok" };
  const group = ["ok", "spin", "never", "ok"].map((text) => ({ problem, text, finish: "eos" as const }));
  expect((await small.verify(group)).map(({ status }) => status)).toEqual([
    "correct",
    "wrong",
    "wrong",
    "correct",
  ]);
  const { overrunMs, timeouts } = small.stats()["obedient"]!;
  expect(timeouts).toBe(2);
  expect(overrunMs).toBeGreaterThan(0);
  expect(overrunMs).toBeLessThan(allowedMs());
});
