import { expect, test } from "vitest";
import { boxed } from "../constructed-run.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { hintsOf, times } from "./runs.ts";

const folder = temporaryFolder();

test("at most twenty of a kind, a quotation no longer than two hundred characters, as it was written", async () => {
  const group = (problem: number, answer: string, status: "correct" | "wrong") => ({
    problem,
    reference: `${"r".repeat(500)}${problem}`,
    said: times(8, (i) => ({ text: boxed(answer, `thinking ${i}`), status })),
  });
  const steps = times(2, () => [
    ...times(300, (p) => group(p, `right ${p}`, "correct")),
    ...times(25, (p) => group(1000 + p, `\u001b[1m${p}${"a".repeat(500)}`, "wrong")),
  ]);
  const found = await hintsOf(folder.path, steps);
  expect(found.map(({ kind }) => kind)).toEqual(times(20, () => "gold-rejected"));
  expect(found[0]!.quotes!["answer"]).toContain(`\u001b[1m`);
  for (const { quotes } of found) for (const quote of Object.values(quotes!)) expect(quote.length).toBe(200);
});

test("a run that took nothing gives no hint", async () => {
  expect(await hintsOf(folder.path, [])).toEqual([]);
});
