import { expect, test } from "vitest";
import { levels } from "../long.ts";
import { conditionsOf, meaning, skipReason } from "../skip-reasons.ts";

const SOURCE = `
describe.skipIf(!existsSync(join(folder, "a")))("labels", () => {});
test.skipIf(!hasBubblewrap).each([1, 2])("hack %s", () => {});
it.runIf(long)("all of them", () => {});
`;

test("conditions with the names behind them", () => {
  expect(conditionsOf(SOURCE)).toEqual([
    { condition: '!existsSync(join(folder, "a"))', title: "labels" },
    { condition: "!hasBubblewrap", title: undefined },
    { condition: "long", title: "all of them" },
  ]);
});

test("a test's own note, its suite's condition, or whatever its file asks for", () => {
  expect(skipReason("no network", ["x"], SOURCE)).toBe("no network");
  expect(skipReason(undefined, ["row 3", "labels"], SOURCE)).toMatch(/beside the checkout$/);
  expect(skipReason(undefined, ["all of them"], SOURCE, levels(undefined))).toBe(
    "long, for npm run test:all",
  );
  expect(skipReason(undefined, ["hack 1"], SOURCE, levels(undefined)).split(", or ")).toHaveLength(3);
  expect(skipReason(undefined, ["x"], "")).toBe("no reason is given");
});

test("a condition nobody knows is its own reason", () => {
  expect(meaning("moon.isFull")).toBe("moon.isFull");
});

test("of two conditions in one both are said", () => {
  expect(meaning("noRedis !== undefined || noShim !== undefined")).toMatch(/redis-server.* C compiler/);
  expect(meaning("noAddon !== undefined || noShim !== undefined")).toMatch(/native core.* C compiler/);
  expect(meaning("!existsSync(CHROMIUM) || noAddon !== undefined")).toMatch(/chromium.* native core/);
  expect(meaning("!long || !existsSync(CHROMIUM)", levels("landing"))).toMatch(/^no chromium/);
});

test("length is a reason only where such tests were not asked for", () => {
  const noSlurm = "!long || noSlurm !== undefined";
  expect(meaning(noSlurm, levels(undefined))).toMatch(/^long/);
  expect(meaning(noSlurm, levels("landing"))).toMatch(/^no Slurm/);
  expect(meaning("longest", levels("landing"))).toMatch(/^long/);
  expect(meaning("!longest || noPython", levels("1"))).toBe("no /usr/bin/python3");
});
