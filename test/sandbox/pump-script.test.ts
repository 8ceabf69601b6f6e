import { describe, expect, test } from "vitest";
import { PUMP } from "../../lib/sandbox/pump-script.ts";
import { bubblewrap, hasBubblewrap, LIMITS } from "../fixtures/python-sandboxes.ts";

const run = (source: string, outputBytes: number, stdin = "") =>
  bubblewrap.run({ source, stdin, dialect: "script" }, { ...LIMITS, outputBytes });

describe.skipIf(!hasBubblewrap)("the pump", () => {
  test("lets a program write exactly what it may, and not one byte more", { timeout: 120_000 }, async () => {
    const source = (count: number) => `import sys\nsys.stdout.write("x" * ${count})`;
    for (const cap of [1000, 1 << 16, 200_000]) {
      expect(await run(source(cap), cap)).toMatchObject({ end: "finished", stdout: "x".repeat(cap) });
      expect(await run(source(cap + 1), cap)).toMatchObject({
        end: "too-much-output",
        stdout: "x".repeat(cap),
      });
    }
  });

  test("keeps apart what goes to and comes from many programs at once", { timeout: 120_000 }, async () => {
    const echo = "import sys\nsys.stdout.write(sys.stdin.read())";
    const inputs = Array.from({ length: 6 }, (_, i) => String(i).repeat(300_000 + i));
    const runs = await Promise.all(inputs.map((input) => run(echo, 1 << 20, input)));
    expect(runs.every(({ stdout }, i) => stdout === inputs[i])).toBe(true);
  });
});

test("what programs write is copied, not read", () => {
  expect(PUMP).not.toMatch(/loads|eval|exec|decode|import/);
});
