import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { checkRecipe } from "../../lib/cli/check.ts";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { createRun, openProblems, openVerifiers } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";

/** Evaluates fewer problems: with two steps the evaluations take most of the time. */
const FEW = ["evaluation.problemsPerDomain=2", "evaluation.attempts=1"];
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const quoted = (text: string) => [...text.matchAll(/"([a-z-]+)"/g)].map((m) => m[1]!);

/** Converts kDrGrpo to dr-grpo, as the schema spells it. */
const kebab = (name: string) => name.replaceAll(/(?<=[a-z])[A-Z]/g, (c) => `-${c}`).toLowerCase();

test("the enum, the addon, the face and the schema name the same objectives in the same order", () => {
  const body = /enum class Objective[^{]*\{([^}]*)\}/.exec(read("csrc/kernels/policy_loss.h"))![1]!;
  const core = [...body.matchAll(/^\s*k([A-Za-z]+),/gm)].map((m) => kebab(m[1]!));
  const addon = quoted(/"objective", \{([^}]*)\}/.exec(read("csrc/addon/model_options.cc"))![1]!);
  const face = quoted(/type ObjectiveName =([^;]*);/.exec(read("lib/native/face.ts"))![1]!);
  const schema = quoted(
    /kind: z\s*\.enum\(\[([^\]]*"gspo"[^\]]*)\]/.exec(read("lib/config/objective.ts"))![1]!,
  );
  expect(core.length).toBeGreaterThan(5);
  expect(addon).toEqual(core);
  expect(face).toEqual(core);
  // Only the warm start uses "supervised"; a recipe's objective is for reinforcement learning.
  expect([...schema, "supervised"]).toEqual(core);
});

test("every file and folder the how-tos name exists", () => {
  for (const page of ["docs/how-to/write-a-loss.md", "docs/how-to/add-a-domain.md"]) {
    const paths = [...read(page).matchAll(/`((?:csrc|lib|test|docs)\/[\w./-]+)`/g)].map((m) => m[1]!);
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths.filter((p) => /\.[a-z]+$/.test(p))) expect(() => read(path), path).not.toThrow();
  }
});

test("the objective of write-a-loss.md passes its check and trains", async () => {
  const folder = mkdtempSync(join(fileURLToPath(new URL("../../", import.meta.url)), "build", "how-to-"));
  const [, name, code] = /```ts file=(\S+)\n([\s\S]*?)```/.exec(read("docs/how-to/write-a-loss.md"))!;
  writeFileSync(join(folder, name!), code!);
  try {
    const recipe = await loadRecipe(join(folder, name!), FEW);
    const { stages } = await checkRecipe(recipe);
    expect(stages.find((stage) => stage.name === "objective")).toMatchObject({ ok: true });
    await using run = await createRun(recipe, { dir: join(folder, "run"), sinks: [] });
    const steps: number[] = [];
    for await (const step of run) steps.push(step.step);
    expect(steps).toEqual([1, 2]);
    const place = `objective.slopes=${join(folder, name!)}#sequenceMean`;
    const asModule = await loadRecipe(join(folder, name!), [...FEW, place]);
    await using same = await createRun(asModule, { dir: join(folder, "module"), sinks: [] });
    await Promise.all([run.finished, same.finished]);
    const hashes = ["run", "module"].map((of) => weightsHash(join(folder, of, "checkpoints", "step-000002")));
    expect(hashes[1]).toBe(hashes[0]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);

describe("the code of write-a-verifier.md", () => {
  const folder = mkdtempSync(join(fileURLToPath(new URL("../../", import.meta.url)), "build", "how-to-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  for (const [, name, code] of read("docs/how-to/write-a-verifier.md").matchAll(
    /```ts file=(\S+)\n([\s\S]*?)```/g,
  )) {
    writeFileSync(join(folder, name!), code!);
  }

  test("loads, judges and trains as the page says", async () => {
    const recipe = await loadRecipe(join(folder, "train.ts"), FEW);
    const findings = await checkRecipe(recipe);
    expect(findings.domains["reversal"]!.verifiers).toEqual(["reverse"]);
    const steps: number[] = [];
    await using run = await createRun(recipe, { dir: join(folder, "run"), sinks: [] });
    for await (const step of run) steps.push(step.step);
    expect(steps).toEqual([1, 2]);
  });

  test("its verifier tells right from wrong", async () => {
    const recipe = await loadRecipe(join(folder, "train.ts"), []);
    const problem = (await openProblems(recipe)).sources.get("reversal")!.problem(4);
    const right = [...(problem.reference as string)].reverse().join("");
    await using verifiers = openVerifiers(recipe);
    const judge = async (text: string) =>
      (await verifiers.verify([{ problem, text, finish: "eos" as const }]))[0]!.status;
    expect(await judge(`<think></think>${right}<eos>`)).toBe("correct");
    expect(await judge(`<think></think>${right}x<eos>`)).toBe("wrong");
    expect(await judge(right)).toBe("no_answer");
  });
});
