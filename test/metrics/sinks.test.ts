import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSinks, RUN_FILES, readRunLog, SINKS } from "../../lib/metrics/index.ts";
import { NO_DETAILS } from "./details.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-sinks-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each(Object.keys(SINKS))("every sink: %s", (name) => {
  test("bears its registry name, takes steps, closes twice", () => {
    const [sink] = openSinks([name], folder);
    expect(sink?.name).toBe(name);
    for (const step of [1, 2, 3])
      sink!.write({ step, version: step, metrics: { "reward/mean": step } }, NO_DETAILS);
    sink!.close();
    sink!.close();
    expect(readdirSync(folder)).toHaveLength(name === "jsonl" ? 2 : 1);
  });

  test("says HONE_ERR_IO where it cannot write", () => {
    writeFileSync(join(folder, "run"), "a file where the folder should be");
    const use = () => {
      for (const sink of openSinks([name], join(folder, "run")))
        sink.write({ step: 1, version: 1, metrics: {} }, NO_DETAILS);
    };
    expect(use).toThrow(expect.objectContaining({ code: "HONE_ERR_IO" }));
  });
});

test("several sinks get the same steps", () => {
  const sinks = openSinks(["jsonl", "prometheus"], folder);
  for (const sink of sinks) sink.write({ step: 4, version: 4, metrics: { a: 1 } }, NO_DETAILS);
  for (const sink of sinks) sink.close();
  expect(readRunLog(join(folder, RUN_FILES.log))).toEqual([{ step: 4, version: 4, metrics: { a: 1 } }]);
  expect(existsSync(join(folder, RUN_FILES.prometheus))).toBe(true);
});

test.each(["tensorbord", "toString", "__proto__"])("%s is no sink, and the known ones are named", (name) => {
  expect(() => openSinks(["jsonl", name], folder)).toThrow(/known are jsonl, tensorboard, prometheus/);
});
