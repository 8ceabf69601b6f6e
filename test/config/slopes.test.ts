import { expect, test } from "vitest";
import {
  adoptSlopes,
  definedRecipe,
  defineRecipe,
  overrideRecipe,
  recipeInput,
  slopesFunction,
} from "../../lib/config/index.ts";
import type { SlopesFunction } from "../../lib/custom-objective.ts";
import { recipeChanges } from "../../lib/orchestration/records/recipe-changes.ts";
import { fileHash } from "../../lib/trust.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const mine: SlopesFunction = ({ out }) => out.fill(1).length;
const other: SlopesFunction = ({ out }) => out.fill(2).length;
const recipeOf = (slopes: SlopesFunction) => smallRecipe({}, { objective: { kind: "custom", slopes } });
const read = (slopes: SlopesFunction) => defineRecipe(JSON.parse(JSON.stringify(recipeOf(slopes))));

test("a recipe keeps the function beside its JSON, which has name and hash; overrides and copies keep it too", () => {
  const recipe = recipeOf(mine);
  expect(recipe.objective.slopes).toEqual({
    function: "mine",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(JSON.parse(JSON.stringify(recipe))).toEqual(recipe);
  const changed = overrideRecipe(recipe, ["objective.clipLow=0.001"]);
  expect(changed.objective.clipLow).toBe(0.001);
  for (const same of [
    recipe,
    changed,
    definedRecipe(recipe, "here"),
    defineRecipe(recipeInput(recipe)),
    { ...recipe },
  ]) {
    expect(slopesFunction(same.objective)).toBe(mine);
  }
  expect(slopesFunction(read(mine).objective)).toBeUndefined();
});

test("a run that goes on with another function is told of it", () => {
  const changes = recipeChanges("runs/a", JSON.parse(JSON.stringify(recipeOf(mine))), recipeOf(other));
  expect(changes).toEqual([
    'objective.slopes.function: "mine" -> "other"',
    expect.stringMatching(/^objective\.slopes\.sha256: "\w+" -> "\w+"$/),
  ]);
});

test("a recorded recipe takes the function of the entry script, and refuses another", () => {
  const recorded = read(mine);
  expect(() => adoptSlopes(recorded.objective, recipeOf(other).objective, "runs/a")).toThrow(
    /is other with hash/,
  );
  adoptSlopes(recorded.objective, recipeOf(mine).objective, "runs/a");
  expect(slopesFunction(recorded.objective)).toBe(mine);
});

test.each([
  [{ kind: "custom" }, /objective\.slopes.*required with kind "custom"/],
  [{ slopes: mine }, /objective\.slopes.*objective\.kind "gspo" calls no function/],
  [
    { kind: "custom", slopes: mine, correction: { kind: "tis", high: 2 } },
    /objective\.correction\.kind.*"tis"/,
  ],
  [
    { kind: "custom", slopes: "mine" },
    /objective\.slopes: is "mine"; it must be a function, or a module by path/,
  ],
  [{ kind: "custom", slopes: "./none.ts#mine" }, /objective\.slopes: is "\.\/none\.ts#mine"; no such file/],
  [{ kind: "custom", slopes: { module: "none.ts", sha256: "0".repeat(64) } }, /it must be a module by path/],
  [
    { kind: "custom", slopes: "./test/fixtures/custom-gspo.ts#%zz" },
    /objective\.slopes.*the name #%zz has a % that is not part of a %XX escape; write %25/,
  ],
])("%o is refused", (objective, message) => {
  expect(() => smallRecipe({}, { objective: objective as never })).toThrow(message);
});

const MODULE = "./test/fixtures/custom-gspo.ts#gspo";
const trained = (trainers: number, slopes: SlopesFunction | string) =>
  smallRecipe(
    {},
    { objective: { kind: "custom", slopes }, hardware: { processes: { actors: 1, trainers } } },
  );

test("a module stands in a recipe by its place and the hash of its file; overrides name another", () => {
  const recipe = trained(0, MODULE);
  const sha256 = fileHash("test/fixtures/custom-gspo.ts");
  expect(recipe.objective.slopes).toEqual({ module: MODULE, sha256 });
  const read = defineRecipe(JSON.parse(JSON.stringify(recipe)));
  for (const same of [
    read,
    overrideRecipe(recipe, ["objective.clipLow=0.001"]),
    defineRecipe(recipeInput(read)),
  ])
    expect(same.objective.slopes).toEqual({ module: MODULE, sha256 });
  const other = overrideRecipe(recipe, ["objective.slopes=./test/config/slopes.test.ts"]);
  expect(recipeChanges("runs/a", JSON.parse(JSON.stringify(recipe)), other)).toEqual([
    'objective.slopes.module: "./test/fixtures/custom-gspo.ts#gspo" -> "./test/config/slopes.test.ts"',
    expect.stringMatching(/^objective\.slopes\.sha256: "\w+" -> "\w+"$/),
  ]);
});

test("trainers of their own are given a module, and no function", () => {
  expect(() => trained(2, mine)).toThrow(
    /objective\.slopes: is the function mine, .*sent to the 2 training processes.*"\.\/loss\.ts#mine"/,
  );
  for (const [trainers, slopes] of [
    [0, mine],
    [2, MODULE],
  ] as const)
    expect(trained(trainers, slopes).objective.kind).toBe("custom");
});
