import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readCase } from "../../../lib/domains/code/cases.ts";
import { code } from "../../../lib/domains/code/verify.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-cases-"));
afterAll(() => rmSync(folder, { recursive: true }));
const input_output = '{"inputs": ["1"], "outputs": ["2"]}';
writeFileSync(
  join(folder, "taco_format_problems.jsonl"),
  `${JSON.stringify({ id: "a", question: "?", input_output })}\n\n${JSON.stringify({ id: "b", input_output: {} })}\n`,
);

test("a case names its problem by id, and may say how many tests count", async () => {
  expect(await readCase({ problem: "a", response: "x", total: 3, kind: "gold" }, folder)).toEqual({
    verifier: code,
    completion: { text: "x", finish: "stop" },
    reference: { input_output, limits: { tests: 3 } },
  });
  const { reference } = await readCase({ problem: "a", response: "x", total: 0 }, folder);
  expect(reference).toEqual({ input_output });
});

test("a case may bring its problem along", async () => {
  const { reference } = await readCase({ problem: { input_output }, response: "x" }, "nowhere");
  expect(reference).toEqual({ input_output });
});

test.each([
  [{ problem: "a" }, "response"],
  [{ response: "x" }, "problem"],
  [{ problem: "c", response: "x" }, 'no problem "c"'],
  [{ problem: "a", response: "x", total: -1 }, "total"],
])("%j is no case: %s", async (row, message) => {
  await expect(readCase(row, folder)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining(message),
  });
});

test("a file of problems that is missing or broken is named", async () => {
  await expect(readCase({ problem: "a", response: "x" }, join(folder, "none"))).rejects.toMatchObject({
    message: expect.stringContaining("cannot read"),
    hint: expect.stringContaining("taco_format_problems.jsonl"),
  });
  const broken = mkdtempSync(join(tmpdir(), "hone-cases-"));
  writeFileSync(join(broken, "taco_format_problems.jsonl"), '{"id": "a"\n');
  await expect(readCase({ problem: "a", response: "x" }, broken)).rejects.toThrow("jsonl:1: not a problem");
  rmSync(broken, { recursive: true });
});
