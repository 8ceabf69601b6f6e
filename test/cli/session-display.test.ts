import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { trainAndEvaluate } from "../../lib/cli/session.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-session-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const recipe = smallRecipe({ steps: 4 }, { evaluation: { problemsPerDomain: 4 } });

test("a display that throws ends nothing", async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error) => void warnings.push(message);
  process.on("warning", note);
  const broken = {
    write: () => {
      throw new RangeError("Invalid count value: -1");
    },
  };
  const { outcome } = await trainAndEvaluate(recipe, {
    dir,
    terminal: broken,
    verifiers,
    core: standInCore(),
  });
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", note);
  expect(outcome).toMatchObject({ reason: "done", steps: 4 });
  expect(warnings.filter((text) => text.startsWith("the display failed"))).toHaveLength(1);
});
