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

test("a topic that nobody asks for any more is told no more, and again once somebody asks", async () => {
  const path = join(folder, "x.db");
  const [here, there] = [new Bells(path), new Bells(path)];
  let told = 0;
  const stroke = async () => {
    const before = told;
    here.ring(["s"]);
    await expect.poll(() => told).toBe(before + 1);
  };
  there.watch("s", () => told++);
  for (let i = 0; i < 7; i++) await stroke();
  there.watch("s", () => {}); // it is still asked for
  for (let i = 0; i < 8; i++) await stroke();
  expect(told).toBe(15);
  here.ring(["s"]);
  there.watch("t", () => told++);
  here.ring(["t"]);
  await expect.poll(() => told).toBe(16); // told of what came later, and of nothing before it
  there.watch("s", () => told++);
  await stroke();
  here.close();
  there.close();
});

test("a stroke that the file system refuses is left out", () => {
  const path = join(folder, "x.db");
  const bells = new Bells(path);
  rmSync(`${path}-bells`, { recursive: true });
  bells.ring(["s"]);
  expect(() => bells.watch("s", () => {})).toThrow(/ENOENT/);
  bells.close();
});
