import { expect, test } from "vitest";
import { PLAIN, width } from "../../lib/report/ansi.ts";
import { processTable, processWords } from "../../lib/report/process-lines.ts";

const row = { state: "alive", restarts: 0, doing: "" } as const;
const rows = [
  { ...row, name: "run", pid: 12, version: 7, doing: "decides" },
  { ...row, name: "actor.0", version: 6, lag: 1, tokensPerSecond: 1234, restarts: 3 },
  { ...row, name: "actor.1", state: "silent", version: 5, lag: 0, tokensPerSecond: 0 },
  { ...row, name: "trainer.0", version: 7 },
  { ...row, name: "verifier.0" },
] as const;

test("the frame has actors and trainers alone", () => {
  const [line, ...more] = processWords(rows, 200, PLAIN);
  expect(line).toBe("actor.0 v6 lags 1 1.23k tok/s restarted 3×   actor.1 silent 0 tok/s   trainer.0 v7");
  expect(more).toEqual([]);
  for (const each of processWords(rows, 60, PLAIN)) expect(width(each)).toBeLessThanOrEqual(60);
  expect(processWords(rows.slice(0, 1), 80, PLAIN)).toEqual([]);
});

test("the table has them all; where nobody is there it tells what they did last", () => {
  const table = processTable(rows, 80);
  expect(table).toHaveLength(6);
  expect(table[0]).toMatch(/restarts +does$/);
  expect(table[1]).toMatch(/^run +alive +12 +v7 +– +– +0 +decides$/);
  expect(processTable([{ ...rows[0], state: "gone" }], 80)[0]).toMatch(/last did$/);
});
