import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Journal, type PlacedLine } from "../../lib/samples/journal.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const path = () => join(folder.path, "verdicts.jsonl");

async function linesOf(journal: Journal, from = 0): Promise<PlacedLine[]> {
  const lines: PlacedLine[] = [];
  for await (const some of journal.lines(from)) lines.push(...some);
  return lines;
}

test("lines with their bytes, across blocks of any number; each is read again at its place", async () => {
  const texts = ["a", "二👍", "x".repeat(3_000_000), "", "b".repeat(1_048_560), "z"];
  writeFileSync(path(), texts.map((text) => `${JSON.stringify({ text })}\n`).join(""));
  await using journal = await Journal.open(path());
  const lines = await linesOf(journal);
  expect(lines.map(({ line }) => (line as unknown as { text: string }).text)).toEqual(texts);
  for (const place of lines) expect(await journal.line(place)).toEqual(place.line);
  expect(await linesOf(journal, lines[2]!.at)).toEqual(lines.slice(2));
  expect(lines.at(-1)!.at + lines.at(-1)!.size + 1).toBe(statSync(path()).size);
  appendFileSync(path(), '{"text":"torn');
  expect(await linesOf(journal)).toHaveLength(texts.length);
});

test("a tail tells what stands before a byte", async () => {
  writeFileSync(path(), "x".repeat(10_000));
  await using journal = await Journal.open(path());
  const tail = (await journal.tail(9000))!;
  expect(tail).toHaveLength(16);
  appendFileSync(path(), "more");
  expect((await journal.tail(9000))!.equals(tail)).toBe(true);
  writeFileSync(path(), `${"x".repeat(8000)}y${"x".repeat(1999)}`);
  expect((await journal.tail(9000))!.equals(tail)).toBe(false);
  expect((await journal.tail(3))!.equals((await journal.tail(4))!)).toBe(false);
  expect(await journal.tail(10_001)).toBeUndefined();
});

test("what cannot be read is a typed error", async () => {
  await expect(Journal.open(join(folder.path, "none"))).rejects.toMatchObject({ code: "HONE_ERR_IO" });
  writeFileSync(path(), '{"a":1}\nnonsense \u001b[2J\n');
  await using journal = await Journal.open(path());
  await expect(linesOf(journal)).rejects.toMatchObject({
    code: "HONE_ERR_FORMAT",
    message: expect.stringContaining("byte 8: not a line"),
  });
  await expect(journal.line({ at: 3, size: 4 })).rejects.toMatchObject({ code: "HONE_ERR_FORMAT" });
});
