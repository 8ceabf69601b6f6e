// Deliberate faults (mutants) that these tests detect: each of the printer's rules broken in turn.
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { progress, whileWaiting, withProgress } from "../../lib/cli/progress.ts";

/** Returns what is printed if each value is reported at its time in milliseconds. */
function telling(
  isLive: boolean,
  tellings: readonly (readonly [ms: number, text: string, isLast?: boolean])[],
) {
  const said: string[] = [];
  let at = 0;
  const line = progress({ say: (text) => said.push(text), isLive, now: () => at });
  for (const [ms, text, isLast] of tellings) {
    at = ms;
    line.show(text, isLast);
  }
  line.end();
  return said;
}

test("on a terminal one line is written over, ten times a second at most, and the last word always said", () => {
  expect(
    telling(true, [
      [0, "a long one"],
      [99, "too soon"],
      [100, "b"],
      [110, "the end", true],
    ]),
  ).toEqual(["\ra long one", "\rb         ", "\rthe end", "\n"]);
});

test("elsewhere each is a line of its own, every five seconds at most, and the last word always said", () => {
  expect(
    telling(false, [
      [0, "0 of 3"],
      [4_999, "1 of 3"],
      [5_000, "2 of 3"],
      [5_100, "3 of 3", true],
      [5_200, "3 of 3", true],
    ]),
  ).toEqual(["0 of 3\n", "2 of 3\n", "3 of 3\n"]);
});

test.each([true, false])("who tells nothing leaves no line (on a terminal: %s)", (isLive) => {
  expect(telling(isLive, [])).toEqual([]);
});

test("bytes in their units, rounded down, the last when all are there", async () => {
  const said: string[] = [];
  const told = { say: (text: string) => said.push(text), isLive: false, now: () => 0 };
  const shown = async (what: string, ...tellings: [number, number][]) => {
    said.length = 0;
    await withProgress(
      async ({ show }) => tellings.forEach(([done, total]) => void show(what, done, total)),
      told,
    );
    return said.join("");
  };
  expect(await shown("x", [0, 1024], [1023, 1024])).toBe("x  0 B of 1.0 KiB (0 %)\n");
  expect(await shown("x", [1023, 1024])).toBe("x  1023 B of 1.0 KiB (99 %)\n");
  expect(await shown("x", [0, 9], [1024, 1024])).toBe("x  0 B of 9 B (0 %)\nx  1.0 KiB of 1.0 KiB (100 %)\n");
  expect(await shown("empty", [0, 0])).toBe("empty  0 B of 0 B (100 %)\n");
});

test("work is called off by Ctrl-C, which is heard only meanwhile, and ends its line when it fails", async () => {
  const before = process.listenerCount("SIGINT");
  const said: string[] = [];
  const told = { say: (text: string) => said.push(text), isLive: true };
  const failed = withProgress(async ({ show, signal }) => {
    show("x", 1, 2);
    expect(signal.aborted).toBe(false);
    process.emit("SIGINT");
    expect(signal.aborted).toBe(true);
    throw new Error("called off");
  }, told);
  await expect(failed).rejects.toThrow("called off");
  expect([said, process.listenerCount("SIGINT")]).toEqual([["\rx  1 B of 2 B (50 %)", "\n"], before]);
});

test("work that takes a while is told of as long as it takes, and what it gives or throws comes through", async () => {
  const told: number[] = [];
  const tell = (seconds: number) => void told.push(seconds);
  expect(await whileWaiting(wait(60, "done"), tell, 5)).toBe("done");
  const times = told.length;
  expect(times).toBeGreaterThan(0);
  expect(told).toEqual([...told].sort((a, b) => a - b));
  await expect(whileWaiting(Promise.reject(new Error("lost")), tell, 1)).rejects.toThrow("lost");
  await wait(20);
  expect(told).toHaveLength(times);
});
