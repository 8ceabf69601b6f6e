import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { keepRowMap, loadRowMap, rowMapOf } from "../../lib/data/row-map.ts";
import { fileHash } from "../../lib/trust.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-row-map-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a module's function is loaded by place and hash; what stands in a recipe for a function knows it", async () => {
  const path = join(folder, "rows.ts");
  writeFileSync(path, "export const toRow = (row: { a: number }) => ({ question: String(row.a) });");
  const map = await loadRowMap({ module: `${path}#toRow`, sha256: fileHash(path) });
  expect(map({ a: 5 } as never)).toEqual({ question: "5" });
  await expect(loadRowMap({ module: `${path}#toRow`, sha256: "0".repeat(64) })).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringMatching(/^map: .*rows\.ts has hash/) as string,
  });
  const written = { function: "toRow", sha256: "0".repeat(64) };
  expect(rowMapOf(written)).toBeUndefined();
  keepRowMap(written, map);
  expect([rowMapOf(written), rowMapOf(map), rowMapOf(undefined)]).toEqual([map, map, undefined]);
  expect(JSON.parse(JSON.stringify(written))).toEqual(written);
});
