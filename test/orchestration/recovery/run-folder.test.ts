import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRun } from "../../../lib/orchestration/index.ts";
import {
  claimRunFolder,
  clearRunFolder,
  expectClaimable,
  recordedHeldOut,
  runClock,
} from "../../../lib/orchestration/recovery/run-folder.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-folder-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("asking whether a folder can be claimed makes none, and refuses one that is in use", async () => {
  const none = join(dir, "none");
  await expectClaimable({ dir: none });
  expect(readdirSync(dir)).toEqual([]);
  using _ = await claimRunFolder({ dir });
  await expect(expectClaimable({ dir })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("a new run replaces the last only when told to, and what it refuses it leaves as it was", async () => {
  const options = { verifiers, dir, core: standInCore() };
  {
    await using run = await createRun(smallRecipe({ steps: 2 }), options);
    await run.finished;
  }
  const before = readFileSync(join(dir, "run.json"), "utf8");
  const refused = { code: "HONE_ERR_USAGE", message: `${dir} holds a run with checkpoints` };
  await expect(createRun(smallRecipe({ steps: 3 }), options)).rejects.toMatchObject(refused);
  await expect(createRun(smallRecipe(), { ...options, resume: "never" })).rejects.toMatchObject(refused);
  expect(readFileSync(join(dir, "run.json"), "utf8")).toBe(before);
  // Checks that no process holds the folder.
  (await claimRunFolder({ dir, resume: "auto" }))[Symbol.dispose]();
  await using run = await createRun(smallRecipe({ steps: 3 }), {
    verifiers,
    dir,
    overwrite: true,
    core: standInCore(),
  });
  expect(await run.finished).toMatchObject({ reason: "done", steps: 3 });
});

test("the clock of chat templates is that of the first session", async () => {
  {
    await using run = await createRun(smallRecipe({ steps: 2 }), { verifiers, dir, core: standInCore() });
    await run.finished;
  }
  const file = join(dir, "run.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as { clock: string; startedAt: string };
  expect(Math.abs(Date.parse(manifest.clock) - Date.parse(manifest.startedAt))).toBeLessThan(60_000);
  const began = "2024-07-26T12:00:00.000Z";
  writeFileSync(file, JSON.stringify({ ...manifest, clock: began }));
  await using run = await createRun(smallRecipe({ steps: 3 }), {
    verifiers,
    dir,
    resume: "auto" as const,
    core: standInCore(),
  });
  await run.finished;
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ clock: began });
  expect(runClock({ dir, resume: "auto" })).toEqual(new Date(began));
});

test("what data sets hold out is listed, and stays held out when the run goes on with other files", async () => {
  const data = join(dir, "rows.jsonl");
  const rows = Array.from({ length: 40 }, (_, i) =>
    JSON.stringify({ question: `What is ${i}?`, answer: `${i}` }),
  );
  writeFileSync(data, rows.join("\n"));
  const recipeOf = (steps: number, path: string) =>
    smallRecipe(
      { steps },
      { domains: { math: { weight: 1, source: { kind: "jsonl" as const, path, heldOut: 4 } } } },
    );
  const options = { verifiers, dir, core: standInCore() };
  {
    await using run = await createRun(recipeOf(2, data), options);
    await run.finished;
  }
  const list = JSON.parse(readFileSync(join(dir, "held-out.json"), "utf8"));
  expect(list.math).toHaveLength(4);
  expect(recordedHeldOut({ dir, resume: "auto" })!.get("math")).toEqual(new Set(list.math));
  expect(recordedHeldOut({ dir })).toBeUndefined();
  const moved = join(dir, "moved.jsonl");
  const fresh = Array.from({ length: 40 }, (_, i) =>
    JSON.stringify({ question: `And ${i}?`, answer: `${i}` }),
  );
  writeFileSync(moved, [...fresh, ...rows.toReversed()].join("\n"));
  {
    await using run = await createRun(recipeOf(3, moved), { ...options, resume: "auto" });
    await run.finished;
  }
  expect(JSON.parse(readFileSync(join(dir, "held-out.json"), "utf8"))).toEqual(list);
  // The files have none of the list's rows, but the list keeps them, because the next session may have the rows again.
  writeFileSync(moved, fresh.join("\n"));
  {
    await using run = await createRun(recipeOf(4, moved), { ...options, resume: "auto" });
    await run.finished;
  }
  expect(JSON.parse(readFileSync(join(dir, "held-out.json"), "utf8"))).toEqual(list);
  writeFileSync(join(dir, "held-out.json"), "[3]");
  await expect(createRun(recipeOf(5, moved), { ...options, resume: "auto" })).rejects.toMatchObject({
    code: "HONE_ERR_FORMAT",
    message: expect.stringContaining("held-out.json"),
  });
});

test("clearing a run folder takes what runs write and nothing else", () => {
  for (const name of ["step-000001", "somebody-elses"])
    mkdirSync(join(dir, "checkpoints", name), { recursive: true });
  for (const name of ["events.jsonl", "summary.json", "notes.txt"]) writeFileSync(join(dir, name), "x");
  clearRunFolder(dir);
  expect(readdirSync(dir, { recursive: true }).sort()).toEqual([
    "checkpoints",
    "checkpoints/somebody-elses",
    "notes.txt",
  ]);
});

/** A core that reports this instruction set, and the arithmetic that its trainers were opened with. */
function coreOn(isa: string) {
  const core = standInCore();
  const arithmetics: unknown[] = [];
  return {
    arithmetics,
    core: {
      ...core,
      info: () => ({ ...core.info(), isa }),
      trainer(...[config, options]: Parameters<typeof core.trainer>) {
        arithmetics.push(options.arithmetic);
        return core.trainer(config, options);
      },
    },
  };
}

const bf16Recipe = (steps: number, more: object = {}) => {
  const { model } = smallRecipe();
  return smallRecipe({ steps }, { model: { config: model.config!, weightStorage: "bf16", ...more } });
};

test("a run keeps its arithmetic on a core that would begin in another, and refuses a recipe that asks for one", async () => {
  const first = coreOn("avx512bf16");
  {
    await using run = await createRun(bf16Recipe(2), { verifiers, dir, core: first.core });
    await run.finished;
  }
  expect(JSON.parse(readFileSync(join(dir, "run.json"), "utf8"))).toMatchObject({
    versions: { isa: "avx512bf16", arithmetic: "bf16" },
  });
  const second = coreOn("avx2");
  const resumed = { verifiers, dir, core: second.core, resume: "auto" as const };
  const has = `the run in ${dir} multiplies in bf16`;
  await expect(createRun(bf16Recipe(4, { arithmetic: "f32" }), resumed)).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringContaining(`model.arithmetic: is "f32"; ${has}`),
  });
  await expect(createRun(bf16Recipe(4, { weightStorage: "f32" }), resumed)).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringContaining(`model.weightStorage: is "f32"; ${has}`),
  });
  {
    await using run = await createRun(bf16Recipe(4), resumed);
    await run.finished;
  }
  const all = [...first.arithmetics, ...second.arithmetics];
  expect(all.length).toBeGreaterThan(1);
  expect(new Set(all)).toEqual(new Set(["bf16"]));
  expect(JSON.parse(readFileSync(join(dir, "run.json"), "utf8"))).toMatchObject({
    versions: { isa: "avx2", arithmetic: "bf16" },
  });
});

test("a run of a version that knew no other arithmetic goes on in f32", async () => {
  {
    await using run = await createRun(bf16Recipe(2), { verifiers, dir, core: coreOn("avx512").core });
    await run.finished;
  }
  const file = join(dir, "run.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as { versions: Record<string, unknown> };
  expect(manifest.versions["arithmetic"]).toBe("f32");
  delete manifest.versions["arithmetic"];
  writeFileSync(file, JSON.stringify(manifest));
  const later = coreOn("avx512bf16");
  await using run = await createRun(bf16Recipe(4), { verifiers, dir, core: later.core, resume: "auto" });
  await run.finished;
  expect(new Set(later.arithmetics)).toEqual(new Set(["f32"]));
});

test("a run that goes on stores weights as it began, where the recipe does not say", async () => {
  {
    await using run = await createRun(bf16Recipe(2), { verifiers, dir, core: coreOn("avx2").core });
    await run.finished;
  }
  const { model } = smallRecipe();
  const says = (weights: object) =>
    smallRecipe({ steps: 4 }, { model: { config: model.config!, ...weights } });
  const resumed = { verifiers, dir, core: coreOn("avx2").core, resume: "auto" as const };
  await expect(createRun(says({ weightStorage: "f32" }), resumed)).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringContaining(
      `model.weightStorage: is "f32"; the run in ${dir} stores weights in bf16`,
    ),
  });
  await using run = await createRun(says({}), resumed);
  await run.finished;
  expect(JSON.parse(readFileSync(join(dir, "run.json"), "utf8"))).toMatchObject({
    config: { model: { weightStorage: "bf16" } },
  });
});

/** A core that records from which problems the engine samples, in the order of the calls. */
function coreThatNotes() {
  const core = standInCore();
  const drawn = new Set<number | undefined>();
  return {
    drawn,
    core: {
      ...core,
      engine: (...args: Parameters<typeof core.engine>) => {
        const engine = core.engine(...args);
        const submit = engine.submit.bind(engine);
        engine.submit = (request) => {
          drawn.add(request.sampling.vocabulary);
          return submit(request);
        };
        return engine;
      },
    },
  };
}

test("a run samples no padding, and one of a version that did goes on as it began", async () => {
  const first = coreThatNotes();
  const file = join(dir, "run.json");
  const recorded = () => JSON.parse(readFileSync(file, "utf8"));
  {
    await using run = await createRun(smallRecipe({ steps: 2 }), { verifiers, dir, core: first.core });
    await run.finished;
  }
  expect(recorded()).toMatchObject({ config: { rollouts: { maskPadding: true } } });
  expect([...first.drawn]).toEqual([expect.any(Number)]);
  const { maskPadding: _, ...older } = recorded().config.rollouts;
  writeFileSync(file, JSON.stringify({ ...recorded(), config: { ...recorded().config, rollouts: older } }));
  const later = coreThatNotes();
  const options = { verifiers, dir, core: later.core, resume: "auto" as const };
  {
    await using run = await createRun(smallRecipe({ steps: 4 }), options);
    await run.finished;
  }
  expect([...later.drawn]).toEqual([undefined]);
  expect(recorded()).toMatchObject({ config: { rollouts: { maskPadding: false } } });
  const rollouts = { ...smallRecipe().rollouts, maskPadding: true };
  await using run = await createRun(smallRecipe({ steps: 6 }, { rollouts }), options);
  await run.finished;
  expect([...later.drawn]).toEqual([undefined, ...first.drawn]);
});
