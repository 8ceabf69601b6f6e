// Measures the index of a run's completions: a million in groups of eight, 500 steps, texts of some 400 characters. It
// is made once from the journal, opened as a later process does, extended by one step, and queried. Times are wall
// seconds of this process, with the files in the page cache.
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { problems, query, SampleIndex, sampleGroups, wholeSample } from "../dist/lib/samples/index.js";

const smoke = process.argv.includes("--smoke");
const COMPLETIONS = smoke ? 20_000 : 1_000_000;
const GROUP = 8;
const STEPS = 500;
const PROBLEMS = COMPLETIONS / GROUP / 5; // five epochs
const TEXT = "Let x be the number of apples. Then 3x + 4 = 19, so x = 5 and the rest follows. ".repeat(5);

/** A key of 128 evenly distributed bits. */
function key(kind, n) {
  const word = (salt) => {
    let h = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(kind + salt, 0x85ebca77);
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
    h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
    return ((h ^ (h >>> 15)) >>> 0).toString(16).padStart(8, "0");
  };
  return word(1) + word(2) + n.toString(16).padStart(8, "0") + word(4);
}

function groupLines(group) {
  const problem = group % PROBLEMS;
  const of = key(1, problem);
  const lines = [];
  if (group < PROBLEMS) {
    const known = { id: problem, domain: "math", family: "orz", level: 0, verifier: "math" };
    lines.push({
      problem: of,
      ...known,
      reference: { answer: `${problem}` },
      prompt: `<bos>Problem ${problem}?`,
    });
  }
  const members = [];
  for (let attempt = 0; attempt < GROUP; attempt++) {
    const completion = key(2, group * GROUP + attempt);
    const score = Number((problem * 31 + attempt * 17 + group) % 3 === 0);
    const [status, reason] = score === 1 ? ["correct", "equal"] : ["wrong", "not equal"];
    const text = `<think>${TEXT}</think>\\boxed{${(problem * 7 + attempt) % 11}}`;
    lines.push(
      { completion, of, finish: "eos", text },
      { verdict: { status, score, reason }, on: completion, version: 1 },
    );
    const numbers = { score, reward: score, penaltyScale: 0, penalty: 0, advantage: score - 1 / 3 };
    members.push({
      completion,
      attempt,
      tokens: 100 + ((group * 13 + attempt * 7) % 97),
      versions: [0, 3],
      status,
      ...numbers,
    });
  }
  const step = 1 + Math.floor((group * STEPS) / (COMPLETIONS / GROUP));
  lines.push({ step, group, of, submittedVersion: 3, members });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

async function seconds(work) {
  const start = performance.now();
  const result = await work();
  return [(performance.now() - start) / 1000, result];
}

/** The shortest time of three. */
async function best(work) {
  const times = [];
  for (let i = 0; i < 3; i++) times.push((await seconds(work))[0]);
  return Math.min(...times);
}

const dir = mkdtempSync(path.join(tmpdir(), "hone-samples-"));
const journal = path.join(dir, "verdicts.jsonl");
try {
  const fd = openSync(journal, "w");
  for (let group = 0; group < COMPLETIONS / GROUP; ) {
    let block = "";
    for (; block.length < 1 << 22 && group < COMPLETIONS / GROUP; group++) block += groupLines(group);
    writeSync(fd, block);
  }
  closeSync(fd);
  const megabytes = statSync(journal).size / 1e6;
  const [made] = await seconds(() => SampleIndex.open(dir));
  const opened = await best(() => SampleIndex.open(dir));
  const index = await SampleIndex.open(dir);
  if (index.live.length !== COMPLETIONS) throw new Error(`${index.live.length} completions`);
  const perStep = COMPLETIONS / GROUP / STEPS;
  const more = Array.from({ length: perStep }, (_, i) => groupLines(COMPLETIONS / GROUP + i)).join("");
  appendFileSync(journal, more);
  const [followed] = await seconds(() => index.update());
  const asked = {
    "a page of the newest": () => query(index, {}),
    "a page of the newest groups": () => sampleGroups(index, {}),
    "wrong but long, the longest first": () => query(index, { wrongButLong: true }, { order: "longest" }),
    "flipped since the middle": () => query(index, { flippedSince: STEPS / 2 }),
    "problems that were never solved": () => problems(index, { kind: "never" }),
    "one completion with its texts": () => wholeSample(index, COMPLETIONS / 2),
  };
  const rows = [
    {
      name: `opening ${COMPLETIONS} completions, s`,
      value: opened,
      ceiling: 2,
      "index MB": statSync(path.join(dir, "samples.index")).size / 1e6,
    },
    {
      name: "making the index from the journal, s",
      value: made,
      "journal MB": megabytes,
      "MB/s": megabytes / made,
    },
    { name: `following one step of ${perStep * GROUP}, s`, value: followed },
  ];
  for (const [name, work] of Object.entries(asked))
    rows.push({ name: `${name}, s`, value: await best(work) });
  process.stdout.write(`${JSON.stringify({ completions: COMPLETIONS, rows })}\n`);
} finally {
  rmSync(dir, { recursive: true });
}
