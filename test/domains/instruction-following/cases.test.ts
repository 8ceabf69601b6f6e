import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { readCase } from "../../../lib/domains/instruction-following/cases.ts";
import { instructionFollowing } from "../../../lib/domains/instruction-following/verify.ts";
import { CASE_FOLDER, sharedRows } from "./shared-cases.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-instructions-"));
writeFileSync(
  join(folder, "ifeval_input_data.jsonl"),
  `${JSON.stringify({ key: 7, prompt: "p", instruction_id_list: ["punctuation:no_comma"], kwargs: [{}] })}\n\n`,
);
writeFileSync(
  join(folder, "ifbench_test.jsonl"),
  ["0", "7"]
    .map((key) =>
      JSON.stringify({ key, instruction_id_list: ["count:numbers"], kwargs: [{ N: 2, m: null }] }),
    )
    .join("\n"),
);
afterAll(() => rmSync(folder, { recursive: true }));

describe("a row names its constraints", () => {
  const one = { instruction_id_list: ["punctuation:no_comma"], kwargs: [{}] };
  test.each([
    ["as one", { instruction_id: "punctuation:no_comma", kwargs: {} }, { ...one, mode: "constraint" }],
    [
      "as one without arguments",
      { instruction_id: "punctuation:no_comma" },
      { ...one, kwargs: [null], mode: "constraint" },
    ],
    ["as a list", { ...one, key: 9 }, { ...one, mode: "train" }],
    ["by key", { key: "7", instruction_id_list: ["punctuation:no_comma"] }, { ...one, mode: "strict" }],
    [
      "by a key of IFBench",
      { key: 0 },
      { instruction_id_list: ["count:numbers"], kwargs: [{ N: 2, m: null }], mode: "strict" },
    ],
    [
      "by a key that both have",
      { key: 7, instruction_id_list: ["count:numbers"] },
      { instruction_id_list: ["count:numbers"], kwargs: [{ N: 2, m: null }], mode: "strict" },
    ],
    ["by key, loosely", { key: 7, mode: "loose" }, { ...one, mode: "loose" }],
  ])("%s", async (_, row, reference) => {
    expect(await readCase({ response: "text", ...row }, folder)).toEqual({
      verifier: instructionFollowing,
      completion: { text: "text", finish: "stop" },
      reference,
    });
  });
});

test.each([
  ["no response", { key: 7 }, folder, "response"],
  ["no constraints", { response: "" }, folder, "neither"],
  ["an unknown key", { response: "", key: 8 }, folder, "no key 8"],
  ["an unknown mode", { response: "", key: 7, mode: "x" }, folder, "mode"],
  ["no prompts beside it", { response: "", key: 7 }, join(folder, "none"), "cannot read"],
])("%s is said", async (_, row, where, part) => {
  await expect(readCase(row, where)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining(part),
  });
});

test("a broken prompt is named with its line", async () => {
  const broken = mkdtempSync(join(folder, "broken-"));
  writeFileSync(join(broken, "ifeval_input_data.jsonl"), "\n{}\n");
  await expect(readCase({ response: "", key: 7 }, broken)).rejects.toThrow(/:2: not a prompt/);
});

interface Labelled {
  id: string;
  instruction_id: string;
  expected: boolean;
}
interface Response {
  key: string;
  instruction_id_list: string[];
  strict: boolean[];
  loose: boolean[];
  ambiguous: number[];
}
const cases = sharedRows<Labelled>("ifevalg_cases.jsonl");
const responses = sharedRows<Response>("ifeval_responses_gpt4o.jsonl");

/** Reads from the verdict's reason whether each constraint of a row is followed. */
async function followed(row: object, compat: Compat): Promise<boolean[]> {
  const { verifier, completion, reference } = await readCase(row as Record<string, unknown>, CASE_FOLDER);
  const { reason } = await verifier.verify(completion, verifier.parseReference({ ...reference, compat }));
  return [...(/^follows \[([01,]+)\]/.exec(reason)?.[1] ?? "0")]
    .filter((c) => c !== ",")
    .map((c) => c === "1");
}

describe.skipIf(cases.length === 0)("agreement with the reference's labels", () => {
  const misjudged = async (compat: Compat) => {
    const found: string[] = [];
    for (const row of cases)
      if ((await followed(row, compat))[0] !== row.expected) found.push(row.instruction_id);
    return found;
  };

  test("is complete in reference mode", async () => {
    expect(await misjudged("reference")).toEqual([]);
  });

  test("differs in strict mode where strict closes an exploit, and nowhere else", async () => {
    expect((await misjudged("strict")).sort()).toEqual([
      "copy:repeat_phrase",
      "detectable_format:json_format",
      "detectable_format:sentence_hyphens",
      "first_word:first_word_sent",
      ...Array<string>(5).fill("keywords:exclude_word_harder"),
      ...Array<string>(2).fill("language:response_language"),
      ...Array<string>(2).fill("last_word:last_word_sent"),
    ]);
  });

  test.each(["strict", "loose"] as const)(
    "is complete on IFEval responses, %s accuracy, in both modes",
    async (mode) => {
      for (const compat of ["reference", "strict"] as const)
        for (const row of responses) {
          const actual = await followed({ ...row, mode }, compat);
          const expected = row[mode].map((label, i) => (row.ambiguous.includes(i) ? actual[i] : label));
          expect([row.key, actual]).toEqual([row.key, expected]);
        }
    },
  );
});
