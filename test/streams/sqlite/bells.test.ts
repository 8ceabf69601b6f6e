import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Bells } from "../../../lib/streams/sqlite/bells.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-bells-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("those that watch a topic are told of it once a stroke, and of topics that share its file", async () => {
  const path = join(folder, "x.db");
  const [here, there] = [new Bells(path), new Bells(path)];
  const told: string[] = [];
  there.watch("s", (topic) => told.push(topic));
  there.watch("s", (topic) => told.push(`again ${topic}`)); // it is watched already
  here.ring(["other", "s"]);
  await expect.poll(() => told).toEqual(["s"]);
  here.ring(["s", "s"]);
  await expect.poll(() => told).toEqual(["s", "s"]);
  here.close();
  there.close();
  const bells = readdirSync(`${path}-bells`);
  expect(bells).toHaveLength(2);
  for (const bell of bells) expect(statSync(join(`${path}-bells`, bell)).size).toBe(1);
});

test("a stroke that the file system refuses is left out", () => {
  const path = join(folder, "x.db");
  const bells = new Bells(path);
  rmSync(`${path}-bells`, { recursive: true });
  bells.ring(["s"]);
  expect(() => bells.watch("s", () => {})).toThrow(/ENOENT/);
  bells.close();
});
