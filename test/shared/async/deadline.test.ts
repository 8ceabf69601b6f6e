import { getEventListeners } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { within } from "../../../lib/shared/async/deadline.ts";
import { collectingGarbage } from "../../fixtures/garbage.ts";

const forever = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });

test.each([
  ["alone", undefined],
  ["beside what may call it off", new AbortController().signal],
])("a deadline %s comes, garbage collected or not", async (_, parent) => {
  using _garbage = collectingGarbage();
  await expect(within(200, parent, forever)).rejects.toMatchObject({
    name: "TimeoutError",
    message: "no end within 200 ms",
  });
});

test("what is called off hears why, also what was called off before it began", async () => {
  const parent = new AbortController();
  const waiting = within(60_000, parent.signal, forever);
  parent.abort(new Error("the run has ended"));
  await expect(waiting).rejects.toThrow("the run has ended");
  await expect(within(60_000, parent.signal, async ({ aborted }) => aborted)).resolves.toBe(true);
});

test("gives what the work gives, or its error, and leaves nothing on the parent", async () => {
  const { signal: parent } = new AbortController();
  const many = Array.from({ length: 100 }, (_, i) => within(60_000, parent, async () => i));
  expect(await Promise.all(many)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  const failing = async () => {
    throw new Error("no");
  };
  await expect(within(60_000, parent, failing)).rejects.toThrow("no");
  expect(getEventListeners(parent, "abort")).toEqual([]);
});

test("nothing of the package combines a time-out with another signal in the way that loses it", () => {
  const root = join(import.meta.dirname, "../../../lib");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.[jt]s$/.test(file),
  );
  const combining = files.filter((file) => {
    const code = readFileSync(join(root, file), "utf8").replace(/^\s*\*.*$/gm, "");
    return code.includes("AbortSignal.any(") && code.includes("AbortSignal.timeout(");
  });
  expect(files.length).toBeGreaterThan(500);
  expect(combining).toEqual([]);
});
