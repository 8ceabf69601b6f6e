// Deliberate faults (mutants) that these tests detect: a table of steps that a resume dropped stays, an unrelated
// file is deleted.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WandbTables } from "../../lib/trackers/wandb-tables.ts";
import { scratch } from "./fixtures.ts";

test("tables are told by the file that holds them, and those of later steps are deleted, other files not", () => {
  const folder = scratch();
  const tables = new WandbTables(folder);
  expect(tables.before(9).size).toBe(0);
  const table = (word: string) => ({ columns: ["completion"], data: [[word], ["é"]] });
  const first = tables.add(2, table("a"));
  expect(first).toMatchObject({ _type: "table-file", ncols: 1, nrows: 2 });
  expect(first.path).toMatch(/^media\/table\/completions_2_[0-9a-f]{20}\.table\.json$/);
  tables.add(4, table("b"));
  mkdirSync(join(folder, "media/table"), { recursive: true });
  writeFileSync(join(folder, "media/table/mine.table.json"), "{}");
  expect([...tables.before(4)]).toEqual([[2, first]]);
  expect(readdirSync(join(folder, "media/table")).sort()).toEqual([first.path.slice(12), "mine.table.json"]);
});
