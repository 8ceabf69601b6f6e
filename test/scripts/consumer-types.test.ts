import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { packToTry } from "../../scripts/package.mjs";
import { long } from "../long.ts";
import { patient } from "../patience.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hone-consumer-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.runIf(long)(
  "the published types compile in a strict project that checks libraries and names no types of its own",
  async () => {
    const installed = join(folder, "node_modules/hone-rl");
    mkdirSync(installed, { recursive: true });
    for (const name of ["zod", "@types", "undici-types"]) // packages that the package's declarations import
      symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
    const { filename } = (await packToTry(folder)) as { filename: string };
    spawnSync("tar", ["-xzf", join(folder, filename), "-C", installed, "--strip-components=1"]);
    const options = {
      target: "es2022",
      module: "nodenext",
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      types: [],
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["train.ts"] }),
    );
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(
      join(folder, "train.ts"),
      `import { createRun, defineRecipe } from "hone-rl";
import { Trainer } from "hone-rl/native";
const recipe = defineRecipe({
  name: "mine",
  model: { folder: "models/mine" },
  domains: { mine: { weight: 1, source: "jsonl:rows.jsonl", reward: ({ completion }) => completion.length > 3 } },
  rollouts: { maxOutputTokens: 64, maxPromptTokens: 64 },
  training: { steps: 40, groupsPerStep: 8 },
});
await using run = await createRun(recipe, { dir: "runs/mine" });
run.on("step", ({ step }) => console.log(step, Trainer.name));
`,
    );
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  },
  patient(60_000),
);
