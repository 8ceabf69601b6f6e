// Verdicts agree with the labelled cases as often as docs/reference/verify.md states. A landing judges them here,
// npm run test:long also by `hone verify`.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { expect, test } from "vitest";
import { type Compat, loadCaseReader } from "../../lib/domains/index.ts";
import type { Verdict } from "../../lib/records.ts";
// @ts-expect-error a script, not a module with types
import { agreement, tableRow } from "../../scripts/agreement.mjs";
import { HONE } from "../fixtures/command-line.ts";
import { long, longest } from "../long.ts";
import { patient } from "../patience.ts";

const DATA = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data");
const here = existsSync(DATA);
const ROW = /^\| ([a-z-]+) \| `(\S+\.jsonl)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm;
const stated = [...readFileSync("docs/reference/verify.md", "utf8").matchAll(ROW)].map(
  ([line, domain, file, labels, reference, strict]) => ({
    line,
    domain: domain!,
    file,
    labels: labels!,
    reference,
    strict: strict!,
  }),
);
const domains = [...new Set(stated.map(({ domain }) => domain))];

test("the page states every domain", () => {
  expect(domains).toEqual(["math", "code", "instruction-following", "logic", "function-calling"]);
});

test("the sentence on mathematics adds up to the table's row", () => {
  const sentence =
    /Of the ([\d,]+) labelled cases strict agrees with ([\d,]+)\. It accepts (\d+) .*? It refuses (\d+) /.exec(
      readFileSync("docs/reference/verify.md", "utf8"),
    )!;
  const { labels, strict } = stated.find((row) => row.domain === "math")!;
  const [, all, agreed, accepted, refused] = sentence;
  expect([all, agreed]).toEqual([labels, strict]);
  const number = (text: string) => Number(text.replace(",", ""));
  expect(number(all!) - number(agreed!)).toBe(Number(accepted) + Number(refused));
});

const rowsOf = (domain: string) => stated.filter((row) => row.domain === domain).map(({ line }) => line);

/** Judges each row here, by the same case readers and verifiers as `hone verify`, without its processes. */
async function judged(domain: string, compat: Compat, file: string): Promise<Verdict[]> {
  const read = (await loadCaseReader(domain))!;
  const verdicts: Verdict[] = [];
  for (const text of readFileSync(file, "utf8").trim().split("\n")) {
    const row = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const { verifier, completion, reference } = await read(row, dirname(file), text);
    const parsed = verifier.parseReference(compat === "strict" ? reference : { ...reference, compat });
    verdicts.push(await verifier.verify(completion, parsed));
  }
  return verdicts;
}

const WITHOUT_PROGRAMS = domains.filter((domain) => domain !== "code"); // whose sandbox a worker opens
test.runIf(here && long).each(WITHOUT_PROGRAMS)(
  "verdicts agree with the labels of %s as often as is stated",
  async (domain) => {
    const found = (await agreement(DATA, [domain], judged)) as object[];
    expect(found.map(tableRow)).toEqual(rowsOf(domain));
  },
  patient(120_000),
);

test.runIf(here && longest).each(domains)(
  "hone verify agrees with the labels of %s as often as is stated",
  (domain) => {
    const args = ["scripts/agreement.mjs", "--data", DATA, "--only", domain, "--hone", JSON.stringify(HONE)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.trim().split("\n").slice(2)).toEqual(rowsOf(domain));
  },
  patient(300_000),
);
