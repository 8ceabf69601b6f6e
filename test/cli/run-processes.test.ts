import { spawnSync } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { processesOf } from "../../lib/cli/run-processes.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

afterEach(() => void vi.unstubAllEnvs());
const recipe = smallRecipe({ steps: 1 }, { hardware: { processes: { actors: 1, trainers: 0 } } });

test("a recipe that asks for none has none", async () => {
  expect(await processesOf(smallRecipe({ steps: 1 }), "unused")).toBeUndefined();
});

test("a run of one process serves no metrics, and says so", async () => {
  vi.stubEnv("HONE_METRICS", "9400");
  const told = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(await processesOf(smallRecipe({ steps: 1 }), "unused")).toBeUndefined();
  expect(told.mock.calls.join("")).toContain(
    "HONE_METRICS is set, but a run of one process serves no metrics",
  );
  told.mockRestore();
});

test.each([
  [{}, "needs HONE_STORE and HONE_RUN_ID"],
  [{ HONE_STORE: "redis://127.0.0.1:1" }, "needs HONE_STORE and HONE_RUN_ID"],
])("agents with %j are refused: %s", async (variables, message) => {
  for (const [name, value] of Object.entries({ HONE_AGENTS: "1", ...variables })) vi.stubEnv(name, value);
  await expect(processesOf(recipe, "unused")).rejects.toThrow(message);
});

test("a store that is one process's own is refused before any process starts in it", async () => {
  vi.stubEnv("HONE_STORE", "memory:");
  await expect(processesOf(recipe, "unused")).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: "the store `memory:` works within one process only, but this run has several",
  });
});

test("a place for Prometheus that nobody can read is refused once, and not by each process again and again", async () => {
  vi.stubEnv("HONE_METRICS", "abc");
  await expect(processesOf(recipe, "unused")).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("agents are told where another attempt would be refused as well: bad usage is 78, not 2", () => {
  const roles = ["actors=1", "trainers=1"].flatMap((each) => ["--set", `hardware.processes.${each}`]);
  const command = [...HONE, "run", "recipes/quickstart.ts", "--agents", ...roles];
  const env = { ...process.env, HONE_STORE: "redis://127.0.0.1:1" };
  const options = { cwd: ROOT, encoding: "utf8", env } as const;
  const { status, stderr } = spawnSync(process.execPath, command, options);
  expect(stderr).toContain("needs HONE_STORE and HONE_RUN_ID");
  expect(status).toBe(78);
});
