// `hone verify` agrees with the labelled cases as often as docs/reference/verify.md states.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
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

function expectAgreement(domain: string): void {
  const args = ["scripts/agreement.mjs", "--data", DATA, "--only", domain, "--hone", JSON.stringify(HONE)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout.trim().split("\n").slice(2)).toEqual(
    stated.filter((row) => row.domain === domain).map(({ line }) => line),
  );
}

const judged = domains.filter((domain) => longest || domain !== "code"); // the code domain takes as long as all others
test.runIf(here && long).each(judged)(
  "hone verify agrees with the labels of %s as often as is stated",
  expectAgreement,
  patient(300_000),
);
