import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRun } from "../../lib/orchestration/index.ts";
import { query, type Sample, SampleIndex, wholeSample } from "../../lib/samples/index.ts";
import { inlineVerifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { boxed, ConstructedRun } from "./constructed-run.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const indexFile = () => join(folder.path, "samples.index");
const journalFile = () => join(folder.path, "verdicts.jsonl");
const all = (index: SampleIndex) => query(index, {}, { order: "oldest", limit: 1e9 }).samples;
/** Reads the samples from the journal alone, and leaves the folder's index unchanged. */
async function fresh(): Promise<readonly Sample[]> {
  const kept = existsSync(indexFile()) ? readFileSync(indexFile()) : undefined;
  writeFileSync(indexFile(), "");
  const samples = all(await SampleIndex.open(folder.path));
  if (kept) writeFileSync(indexFile(), kept);
  return samples;
}

test("every completion that a run took is found with the numbers that its listeners heard", async () => {
  const told: object[] = [];
  const recipe = smallRecipe({}, { advantages: { filter: "reward", overlong: "mask" } });
  await using run = await createRun(recipe, {
    verifiers: inlineVerifiers,
    dir: folder.path,
    core: standInCore(),
  });
  run.on("group", ({ problem, rollouts, dropped }, { id, step }) => {
    for (const { rollout, verdict, masked, ...numbers } of rollouts)
      told.push({
        ...numbers,
        step,
        group: id,
        attempt: rollout.attempt,
        domain: problem.domain,
        problem: problem.id,
        drawn: problem.id,
        family: problem.family,
        level: problem.level,
        status: verdict.status,
        score: verdict.score,
        finish: rollout.finish,
        tokens: rollout.tokens.length,
        chars: rollout.text.length,
        versions: [rollout.versions[0], rollout.versions.at(-1)],
        ...(dropped && { dropped }),
        ...(masked && { masked }),
      });
  });
  await run.finished;
  const index = await SampleIndex.open(folder.path);
  expect(told.length).toBe(6 * 4 * 4);
  expect(all(index).map(({ row: _, thoughtChars: __, ...sample }) => sample)).toEqual(told);
});

test("a reader that follows sees what one that comes later sees; a torn last line is left for the next time", async () => {
  using run = new ConstructedRun(folder.path);
  run.step({ said: [{ text: boxed(1) }, { text: boxed(7), status: "correct" }] });
  const index = await SampleIndex.open(folder.path);
  expect(await index.update()).toBe(false);
  const { version } = index;
  for (let step = 2; step < 6; step++) {
    run.step({ problem: step, domain: `d${step % 2}`, said: [{ text: boxed(step) }] });
    expect(await index.update()).toBe(true);
    expect(all(index)).toEqual(await fresh());
  }
  expect(index.version).toBe(version + 4);
  const whole = readFileSync(journalFile());
  appendFileSync(journalFile(), '{"sitting":1');
  expect(await index.update()).toBe(false);
  appendFileSync(journalFile(), "}\n");
  expect(await index.update()).toBe(true);
  expect(all(index).map(({ step }) => step)).toEqual([1, 1]);
  expect(readFileSync(journalFile()).subarray(0, whole.length)).toEqual(whole);
});

test("what one process kept the next one reads; a file that does not fit is made anew", async () => {
  {
    using run = new ConstructedRun(folder.path);
    for (let step = 0; step < 20; step++)
      run.step({ problem: step, said: [{ text: boxed(step) }, { text: "x" }] });
  }
  const want = all(await SampleIndex.open(folder.path));
  const kept = readFileSync(indexFile());
  const { mtimeMs } = statSync(indexFile());
  expect(all(await SampleIndex.open(folder.path))).toEqual(want);
  expect(statSync(indexFile()).mtimeMs).toBe(mtimeMs);
  const spoilt = [
    Buffer.alloc(0),
    Buffer.from("nonsense"),
    kept.subarray(0, kept.length - 1),
    Buffer.concat([kept, Buffer.from("torn")]),
    Buffer.from(kept.map((byte, i) => (i === 200 ? byte ^ 1 : byte))),
    Buffer.from(kept.map((byte, i) => (i === 28 ? byte ^ 1 : byte))),
  ];
  for (const bytes of spoilt) {
    writeFileSync(indexFile(), bytes);
    expect(all(await SampleIndex.open(folder.path))).toEqual(want);
    expect(readFileSync(indexFile())).toEqual(kept);
  }
});

test("a run that begins anew in the folder is another one, for a reader that follows as well", async () => {
  const write = (answers: readonly number[]) => {
    using run = new ConstructedRun(folder.path);
    for (const answer of answers) run.step({ said: [{ text: boxed(answer) }] });
  };
  write([1, 2, 3]);
  const index = await SampleIndex.open(folder.path);
  const before = index.version;
  write([4, 5, 6, 7]);
  expect(await index.update()).toBe(true);
  expect(index.version).toBeGreaterThan(before);
  expect((await wholeSample(index, index.live[0]!)).response).toBe("\\boxed{4}");
  expect(all(index)).toHaveLength(4);
  truncateSync(journalFile(), 0);
  expect(await index.update()).toBe(true);
  expect(all(index)).toEqual([]);
});

test("a run that goes on has one history: what a sitting takes anew counts once", async () => {
  {
    using run = new ConstructedRun(folder.path);
    for (let step = 1; step <= 5; step++) run.step({ said: [{ text: boxed(`first ${step}`) }] });
  }
  const index = await SampleIndex.open(folder.path);
  {
    using run = new ConstructedRun(folder.path, 2);
    for (let step = 3; step <= 7; step++) run.step({ said: [{ text: boxed(`second ${step}`) }] });
  }
  {
    using run = new ConstructedRun(folder.path, 5);
    run.step({ said: [{ text: boxed("third 6") }] });
  }
  await index.update();
  for (const one of [index, await SampleIndex.open(folder.path)]) {
    const texts = await Promise.all([...one.live].map(async (row) => (await wholeSample(one, row)).response));
    const want = ["first 1", "first 2", "second 3", "second 4", "second 5", "third 6"];
    expect(texts).toEqual(want.map((text) => `\\boxed{${text}}`));
    expect(all(one).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
  }
});

test("a damaged line is named by its byte, every time", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step({ said: [{ text: "a" }] });
  }
  const size = statSync(journalFile()).size;
  const index = await SampleIndex.open(folder.path);
  const unknown = "0".repeat(32);
  for (const line of [
    "nonsense",
    "5",
    '{"e":"step"}',
    `{"completion":"${unknown}","of":"${unknown}","finish":"eos","text":""}`,
    `{"verdict":{"status":"wrong","score":0,"reason":""},"on":"${unknown}","version":1}`,
    `{"step":2,"group":1,"of":"${unknown}","members":[]}`,
    '{"problem":7}',
  ]) {
    truncateSync(journalFile(), size);
    appendFileSync(journalFile(), `${line}\n`);
    const want = { code: "HONE_ERR_FORMAT", message: expect.stringContaining(`byte ${size}: `) };
    await expect(index.update()).rejects.toMatchObject(want);
    await expect(index.update()).rejects.toMatchObject(want);
  }
  truncateSync(journalFile(), size);
  await index.update();
  expect(all(index)).toHaveLength(1);
});

test("a folder without a journal is refused; one that cannot be written has no file and is read", async () => {
  await expect(SampleIndex.open(folder.path)).rejects.toMatchObject({ code: "HONE_ERR_IO" });
  {
    using run = new ConstructedRun(folder.path);
    run.step({ said: [{ text: "a" }] });
  }
  writeFileSync(indexFile(), "");
  chmodSync(indexFile(), 0o444);
  chmodSync(folder.path, 0o555);
  try {
    expect(all(await SampleIndex.open(folder.path))).toHaveLength(1);
  } finally {
    chmodSync(folder.path, 0o755);
  }
});
