import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scoreFile } from "../../lib/cli/score-file.ts";
import { patient } from "../patience.ts";

const MODEL = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/goldens/models/llama-tied");

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-score-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function scoresOf(text: string) {
  const file = join(dir, "ids.jsonl");
  writeFileSync(file, text);
  const scores = [];
  for await (const score of scoreFile(MODEL, file, 1)) scores.push(score);
  return scores;
}

test.skipIf(!existsSync(MODEL))(
  "one score a line, in order, over more tokens than one pass takes (skipped without goldens)",
  async () => {
    const golden = JSON.parse(readFileSync(join(MODEL, "golden.json"), "utf8"));
    const { ids, next_logprobs: expected } = golden.sequences[5] as {
      ids: number[];
      next_logprobs: number[];
    };
    const long = Array.from({ length: 250 }, (_, i) => i % 100);
    const many = new Array<number[]>(20).fill(long);
    const lines = [ids, ...many, [1], ids].map((line) => JSON.stringify({ ids: line }));
    const scores = await scoresOf(`${lines.join("\n")}\n\n`);
    expect(scores.map(({ logprobs, entropy }) => [logprobs.length, entropy.length])).toEqual([
      [ids.length - 1, ids.length],
      ...many.map(() => [249, 250]),
      [0, 1],
      [ids.length - 1, ids.length],
    ]);
    expect(scores.at(-1)).toEqual(scores[0]);
    expect(scores[20]).toEqual(scores[1]);
    for (const [i, value] of expected.entries())
      expect(Math.abs(scores[0]!.logprobs[i]! - value)).toBeLessThan(1e-4);
  },
  patient(60_000),
);

test.skipIf(!existsSync(MODEL)).each([
  ["{", "not JSON: {"],
  ['{"ids": []}', "ids"],
  ['{"ids": [1.5]}', "ids"],
  ['{"tokens": [1]}', "ids"],
])("the line %s is named (skipped without goldens)", async (line, what) => {
  await expect(scoresOf(`{"ids": [1]}\n${line}\n`)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringMatching(/ids\.jsonl:2: /),
  });
  await expect(scoresOf(`${line}\n`)).rejects.toThrow(what);
});

test.skipIf(!existsSync(MODEL))(
  "the packed lines before a damaged one are scored first (skipped without goldens)",
  async () => {
    const file = join(dir, "ids.jsonl");
    const long = JSON.stringify({ ids: Array.from({ length: 250 }, (_, i) => i % 100) });
    writeFileSync(file, `${Array(20).fill(long).join("\n")}\n{\n`);
    const scores = scoreFile(MODEL, file, 1);
    for (let i = 0; i < 16; i++)
      expect((await scores.next()).value).toMatchObject({ logprobs: { length: 249 } });
    await expect(scores.next()).rejects.toMatchObject({ message: expect.stringMatching(/ids\.jsonl:21: /) });
  },
);

test.skipIf(!existsSync(MODEL))("a file that is not there is named (skipped without goldens)", async () => {
  const missing = scoreFile(MODEL, join(dir, "none.jsonl"), 1);
  await expect(missing.next()).rejects.toMatchObject({ code: "HONE_ERR_IO" });
});

test.skipIf(!existsSync(MODEL)).each([
  ['{"ids": [1, 2, 100000]}', /ids\.jsonl:2: ids\[2\] is 100000, not an integer in \[0, \d+\)/],
  [`{"ids": [${"1,".repeat(100_000)}1]}`, /ids\.jsonl:2: ids has 100001 tokens/],
])(
  "an id out of range and a line too long name file and line (skipped without goldens)",
  async (line, message) => {
    const rejects = expect(scoresOf(`{"ids": [1]}\n${line}\n`)).rejects;
    await rejects.toMatchObject({ code: "HONE_ERR_DATA", message: expect.stringMatching(message) });
  },
);

test.skipIf(!existsSync(MODEL))(
  "a log-probability that is no number, and a weight that is none, are errors (skipped without goldens)",
  async () => {
    // Logits divided by so low a temperature are infinite, and infinity minus infinity is NaN.
    const file = join(dir, "ids.jsonl");
    writeFileSync(file, '{"ids": [1, 2]}\n{"ids": [3]}\n');
    await expect(scoreFile(MODEL, file, 1e-40).next()).rejects.toMatchObject({
      code: "HONE_ERR_NON_FINITE",
      message: expect.stringMatching(/ids\.jsonl:1: .* is not finite/),
    });
    const broken = join(dir, "broken");
    cpSync(MODEL, broken, { recursive: true });
    const weights = join(broken, "model.safetensors");
    const bytes = readFileSync(weights);
    bytes.writeFloatLE(Number.NaN, bytes.length - 8);
    writeFileSync(weights, bytes);
    await expect(scoreFile(broken, file, 1).next()).rejects.toMatchObject({
      code: "HONE_ERR_FORMAT",
      message: expect.stringMatching(
        /model\.safetensors: tensor ".+" has 1 of \d+ values that are not finite/,
      ),
    });
  },
);

test.skipIf(!existsSync(MODEL))(
  "a pass that takes a while tells its line, its tokens and how long it has taken (skipped without goldens)",
  async () => {
    const file = join(dir, "ids.jsonl");
    const ids = Array.from({ length: 250 }, (_, i) => i % 100);
    writeFileSync(file, `{"ids": [1]}\n${`${JSON.stringify({ ids })}\n`.repeat(60)}`);
    const told: string[] = [];
    const show = (text: string) => void told.push(text);
    for await (const _ of scoreFile(MODEL, file, 1, { device: "cpu" }, { show, everyMs: 1 }));
    // on a busy machine a pass may end before the timer fires, and is then not reported
    expect(told).not.toHaveLength(0);
    const passes = /ids\.jsonl:(?:1: 4001|18: 4000|34: 4000|50: 3000) tokens, \d+ s so far$/;
    for (const line of told) expect(line).toMatch(passes);
    const first = told.map((line) => Number(/:(\d+): /.exec(line)![1]));
    expect(first).toEqual(first.toSorted((a, b) => a - b));
  },
  patient(60_000),
);
