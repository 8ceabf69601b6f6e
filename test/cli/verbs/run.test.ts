// Tests what `hone run` prints, and its exit codes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { noAddon } from "../../e2e/native-core.ts";
import { honeHere } from "../../fixtures/hone-here.ts";
import { patient } from "../../patience.ts";

/** A policy with random weights writes many different characters; a collapsed policy repeats itself. */
const VARIETY = `export default {
  name: "variety",
  model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 64 } },
  domains: {
    math: { weight: 1, source: "procedural/math", reward: ({ completion }) => new Set(completion).size / 64 },
  },
  rollouts: { maxOutputTokens: 16, maxPromptTokens: 64, groupSize: 4 },
  lengthPenalty: { kind: "none" },
  optimizer: { lr: 1, warmupSteps: 0 },
  training: { steps: 6, groupsPerStep: 4, schedule: "sync" },
  evaluation: { problemsPerDomain: 16, settings: [{ temperature: 1 }] },
};`;

function scratch(): { readonly recipe: string; hone(...args: string[]): Promise<Said> } {
  const cwd = mkdtempSync(join(tmpdir(), "hone-run-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, "variety.mjs"), VARIETY);
  const hone = async (...args: string[]) => {
    const { status, stdout, stderr } = await honeHere(args, {}, cwd);
    return { status, text: (stdout + stderr).replace(/\s+/g, " "), cwd };
  };
  return { recipe: "variety.mjs", hone };
}
interface Said {
  readonly status: number;
  /** Stdout and stderr joined into one line. */
  readonly text: string;
  readonly cwd: string;
}

describe.skipIf(noAddon !== undefined)("a model that got worse", { timeout: patient(60_000) }, () => {
  test("is no noise: its own sentence, exit 4 with --fail-on-regression, and a word in `hone runs`", async () => {
    const { recipe, hone } = scratch();
    const worse = await hone("run", recipe, "--fail-on-regression");
    expect(worse.text).toMatch(
      /The model got worse: the mean score fell by \d+\.\d points, from 0\.\d+ to 0\.\d+ /,
    );
    expect(worse.text).not.toContain("noise");
    expect(worse.status).toBe(4);
    expect(readFileSync(join(worse.cwd, "runs/variety/report.html"), "utf8")).toContain(
      "The model got worse",
    );
    expect((await hone("runs")).text).toMatch(/runs\/variety finished 6\/6 \S+ 0\.\d+ -> 0\.\d+ worse /);
    expect((await hone("run", recipe, "--overwrite")).status).toBe(0);
  });

  test("is another thing than one that did not change", async () => {
    const { recipe, hone } = scratch();
    const same = await hone("run", recipe, "--fail-on-regression", "--set", "optimizer.lr=1e-9");
    expect(same.text).toContain("within the noise of the measurement");
    expect(same.text).not.toContain("got worse");
    expect(same.status).toBe(0);
    expect((await hone("runs")).text).not.toContain("worse");
  });
});

describe.skipIf(noAddon !== undefined)("--resume", { timeout: patient(90_000) }, () => {
  const steps = (n: number) => ["--set", "optimizer.lr=1e-9", "--set", `training.steps=${n}`];

  test("says what there is to go on with: nothing, all steps, more steps than asked for, lost checkpoints", async () => {
    const { recipe, hone } = scratch();
    const none = await hone("run", recipe, "--resume", ...steps(3));
    expect(none.text).toContain(`${join(none.cwd, "runs/variety")} has no run to resume: starting a new one`);
    expect(none.status).toBe(0);
    const all = await hone("run", recipe, "--resume", ...steps(3));
    expect(all.text).toContain(
      "the run has already trained all its 3 steps: to continue training, set training.steps above 3",
    );
    expect(all.text).toContain('phase="training" done=3 ');
    expect(all.status).toBe(0);
    const fewer = await hone("run", recipe, "--resume", ...steps(2));
    expect(fewer.text).toContain("training.steps: is 2, but the run has 3 steps already; set it above 3");
    expect(fewer.status).toBe(2);
    rmSync(join(fewer.cwd, "runs/variety/checkpoints"), { recursive: true });
    const lost = await hone("run", recipe, "--resume", ...steps(4));
    expect(lost.text).toMatch(
      /its run did 3 steps and saved step-000003, but runs\/variety\/checkpoints is not there/,
    );
    expect(lost.text).toContain("--overwrite instead of --resume");
    expect(lost.status).toBe(4);
  });
});
