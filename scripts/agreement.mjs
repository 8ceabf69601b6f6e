/**
 * Counts the labelled cases on which `hone verify` agrees with the implementation that labelled them, and prints the table
 * of docs/reference/verify.md: node scripts/agreement.mjs [--data ../shared/reference/data] [--only math,logic] [--json]
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { optionsOf } from "./options.mjs";

const HONE = [fileURLToPath(new URL("../dist/lib/cli/main.js", import.meta.url))];
const MODES = ["reference", "strict"];
const STRICT_STATUS = { valid: "correct" };

/** Compares each label of one row with the verdict: true where they agree. */
const byStatus = (row, { status }) => [row.expected === status];
const withCredit = (row, { status, score }, compat) => [
  status === row.expected && (compat === "strict" || Math.abs(score - row.partial) < 1e-9),
];
const byName = (row, { status, reason }, compat) => [
  compat === "reference"
    ? reason === row.expected
    : (STRICT_STATUS[row.expected] === "correct") === (status === "correct"),
];
const endless = (row, verdict) =>
  row.kind === "infinite_loop" ? [["unparsable", "wrong"].includes(verdict.status)] : byStatus(row, verdict);
const followed = ({ reason }) => JSON.parse(/^follows (\[[01,]*\])/.exec(reason)?.[1] ?? "[]");
const byConstraint = (row, verdict) => [(followed(verdict)[0] === 1) === row.expected];
const strictList = (row, verdict) => {
  const found = followed(verdict);
  return row.strict.flatMap((label, i) => (row.ambiguous?.includes(i) ? [] : [label === (found[i] === 1)]));
};

/** The sets of labelled cases, in the order of the table. */
export const CASES = [
  ["math", "math/boxed_cases.jsonl", byStatus],
  ["code", "code/verdict_cases.jsonl", endless],
  ["instruction-following", "ifeval/ifevalg_cases.jsonl", byConstraint],
  ["instruction-following", "ifeval/ifeval_responses_gpt4o.jsonl", strictList],
  ["logic", "logic/cases.jsonl", byStatus],
  ["function-calling", "bfcl/cases_toolcalls.jsonl", withCredit],
  ["function-calling", "bfcl/cases_pycall.jsonl", byName],
];

const lines = (text) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Returns the verdicts that `hone verify` prints for a file of cases. Rejects if a row has no score. */
function printed(domain, compat, file, hone) {
  const args = [...hone, "verify", "--domain", domain, "--compat", compat, "--file", file, "--json"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const chunks = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0
        ? resolve(lines(Buffer.concat(chunks).toString()))
        : reject(new Error(`hone verify --domain ${domain} --compat ${compat} --file ${file}: exit ${code}`)),
    );
  });
}

/**
 * Returns { domain, file, labels, reference, strict } of each set.
 * @param verdicts judges a file of cases: by `hone verify`, or otherwise
 */
export async function agreement(data, only, verdicts) {
  const found = [];
  for (const [domain, name, agrees] of CASES) {
    if (only !== undefined && !only.includes(domain)) continue;
    const file = `${data}/${name}`;
    const rows = lines(readFileSync(file, "utf8"));
    const counts = { domain, file: name, labels: 0, reference: 0, strict: 0 };
    for (const compat of MODES) {
      const labels = (await verdicts(domain, compat, file)).flatMap((v, i) => agrees(rows[i], v, compat));
      counts.labels = labels.length;
      counts[compat] = labels.filter(Boolean).length;
    }
    found.push(counts);
  }
  return found;
}

/** Writes a row of the table of docs/reference/verify.md. */
export const tableRow = ({ domain, file, labels, reference, strict }) =>
  `| ${domain} | \`${file}\` | ${labels.toLocaleString("en")} | ${reference.toLocaleString("en")} | ${strict.toLocaleString("en")} |`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const values = optionsOf(
    {
      data: { type: "string", default: "../shared/reference/data" },
      only: { type: "string" },
      hone: { type: "string", default: JSON.stringify(HONE) },
      json: { type: "boolean", default: false },
    },
    "npm run agreement -- [--data folder] [--only domain,domain] [--hone '[\"command\"]'] [--json]",
  );
  if (!existsSync(values.data)) {
    console.error(`skipped: no labelled cases at ${values.data}`);
    process.exit(0);
  }
  const hone = JSON.parse(values.hone);
  const found = await agreement(values.data, values.only?.split(","), (...cases) => printed(...cases, hone));
  const head = ["| domain | cases | labels | reference | strict |", "|---|---|---|---|---|"];
  console.log(values.json ? JSON.stringify(found) : [...head, ...found.map(tableRow)].join("\n"));
}
