// The table in docs/how-to/evaluation.md is what its command prints; needs lm-evaluation-harness and a build of this
// package.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { patient } from "../patience.ts";

const root = join(import.meta.dirname, "../..");
const python = process.env["HONE_LM_EVAL_PYTHON"] ?? "python3";

test(
  "verdicts beside lm-evaluation-harness agree as docs/how-to/evaluation.md says",
  ({ skip }) => {
    const found = spawnSync(python, ["-c", "import lm_eval, numpy, yaml"]).status === 0;
    if (!found) skip("lm-evaluation-harness is not at hand (HONE_LM_EVAL_PYTHON names a Python that has it)");
    if (!existsSync(join(root, "dist/lib/cli/main.js"))) skip("dist/ is not built");
    const { stdout, stderr } = spawnSync(python, [join(root, "scripts/lm-eval-agreement.py")], {
      encoding: "utf8",
    });
    const printed = [...stdout.matchAll(/^(\S+): right of[\s\S]*?^agree on (\d+) of (\d+)$/gm)].map(
      ([, suite, same, all]) => [suite, all, same],
    );
    const page = readFileSync(join(root, "docs/how-to/evaluation.md"), "utf8");
    const stated = [...page.matchAll(/^\| (gsm8k|aime25|mmlu-pro) \| (\d+) \| (\d+) \|/gm)].map((row) =>
      row.slice(1),
    );
    expect(printed, stderr).toHaveLength(3);
    expect(stated).toEqual(printed);
  },
  patient(120_000),
);
