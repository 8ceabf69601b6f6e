// The pages about runs, models and evaluations: their commands, typed as they stand there, in a folder with a small
// run. Published benchmarks, servers that judge, and a run of several processes are left out: they are not here.
// Deliberate faults (mutants) that these tests detect: an option of the page that is none, a table that is none,
// another folder than the run's.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { noAddon } from "../e2e/native-core.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { asWords, QUICKSTART, smallQuickstart } from "../fixtures/small-quickstart.ts";
import { long } from "../long.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(root, "build", "run-pages-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (...names: string[]) => join(folder, ...names);
const typed = test.skipIf(!long || noAddon !== undefined);

async function hone(line: string): Promise<string> {
  const { status, stdout, stderr } = await honeHere(line.split(/\s+/), { HF_HUB_OFFLINE: "1" }, folder);
  expect([status, stderr], line).toEqual([0, expect.any(String)]);
  return stdout;
}

/** The commands of a page's shell blocks, without `npx hone` and comments. */
const commandsOf = (page: string): string[] =>
  [...readFileSync(join(root, "docs", page), "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(
    ([, block]) =>
      block!
        .replaceAll("\\\n", " ")
        .split("\n")
        .flatMap((line) => /^npx hone (.*?)(?:\s+#.*)?$/.exec(line)?.[1] ?? []),
  );

beforeAll(async () => {
  if (noAddon !== undefined || !long) return;
  symlinkSync(join(root, "recipes"), at("recipes"));
  const settings = asWords([...smallQuickstart(6), "rollouts.record=true"]);
  for (const name of ["quickstart", "mine"])
    await hone(["run", QUICKSTART, "--dir", `runs/${name}`, ...settings].join(" "));
  await hone("export --run runs/mine --out models/mine");
  writeFileSync(at("ids.jsonl"), '{"ids": [1, 2, 3, 4]}\n');
  const rows = Array.from({ length: 4 }, (_, n) =>
    JSON.stringify({ question: `${n}+1?`, answer: `${n + 1}` }),
  );
  writeFileSync(at("rows.jsonl"), rows.join("\n"));
});

typed("samples, runs and their states", async () => {
  const [newest] = JSON.parse(await hone("samples runs/quickstart --json --limit 1")).samples;
  const samples = commandsOf("how-to/samples.md");
  expect(samples).toHaveLength(6);
  for (const line of samples)
    await hone(
      line.replace("--domain math --problem 2302", `--domain ${newest.domain} --problem ${newest.problem}`),
    );
  const runs = commandsOf("how-to/runs.md").map((line) =>
    line.replace("[folder]", "").replace("A B", "runs/quickstart runs/mine").trim(),
  );
  expect(runs).toEqual(["runs", "diff runs/quickstart runs/mine"]);
  for (const line of runs) expect(await hone(line)).toContain("mine");
  const [status] = commandsOf("how-to/cluster.md").filter((line) => line.startsWith("status"));
  expect(await hone(status!)).toContain("quickstart");
});

typed("models: looked at, converted, exported, scored", async () => {
  const lines = commandsOf("reference/models.md");
  expect(lines.map((line) => line.split(" ")[0])).toEqual(["inspect", "convert", "export", "score"]);
  for (const line of lines) await hone(line);
  expect(existsSync(at("models/mine-bf16/model.safetensors"))).toBe(true);
});

typed("evaluations, their comparisons and traces", async () => {
  const [first, second] = commandsOf("how-to/evaluation.md").filter((line) => line.startsWith("eval"));
  const small = "--seeds 1..2 --max-tokens 8 --limit 4";
  const all = [
    "before",
    "after",
    "base",
    "lp",
    "lp-seed0",
    "lp-seed1",
    "dap",
    "dap-seed0",
    "dap-seed1",
    "trained",
  ];
  await hone(`${first!.replace("--seeds 42..51 --max-tokens 80", small)} --out evals/${all[0]}`);
  for (const name of all.slice(1)) cpSync(at("evals", all[0]!), at("evals", name), { recursive: true });
  await hone(`${second!.replace("aime25,gsm8k=data/gsm8k,rows.jsonl,mine.mjs", "rows.jsonl")} ${small}`);
  const compared = commandsOf("how-to/evaluation.md").filter((line) => line.startsWith("compare"));
  expect(compared.length).toBeGreaterThan(3);
  for (const line of compared) expect(await hone(line)).toMatch(/\d/);
  const traces = commandsOf("how-to/traces.md").filter((line) => !line.includes("--endpoint"));
  expect(traces).toHaveLength(2);
  for (const line of traces) await hone(line.replace("runs/own-model", "runs/quickstart"));
});

typed("a machine is fitted to a run", async () => {
  const [fitted] = commandsOf("how-to/simulate.md").filter((line) => line.includes("--fit"));
  expect(await hone(fitted!)).toMatch(/\d/);
});
