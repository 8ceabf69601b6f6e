import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { PROCESS_EXIT } from "../../../lib/fleet/index.ts";
import { ROOT } from "../../fixtures/command-line.ts";
import { honeHere } from "../../fixtures/hone-here.ts";

afterEach(() => void vi.unstubAllEnvs());
const QUICKSTART = join(ROOT, "recipes/quickstart.ts");
const processes = (of: Readonly<Record<string, number>>) =>
  Object.entries(of).flatMap(([role, count]) => ["--set", `hardware.processes.${role}=${count}`]);
const agent = (...args: readonly string[]) =>
  honeHere(["agent", QUICKSTART, "--store", "redis://127.0.0.1:1", ...args]);

test.each([
  ["0", ["--join", "0"], '--join is "0", not a number from 1 to 999'],
  ["no number", ["--join", "all"], '--join is "all"'],
  ["no number of hosts", ["--join-verifiers", "x"], '--join-verifiers is "x"'],
])("what joins has a number: %s", async (_, words, message) => {
  const { status, stderr } = await agent(...processes({ actors: 1, trainers: 1, verifiers: 1 }), ...words);
  expect([status, stderr]).toEqual([PROCESS_EXIT.config, expect.stringContaining(message)]);
});

test("verifier hosts do not join a run whose coordinator judges: it would never ask them", async () => {
  const { status, stderr } = await agent(...processes({ actors: 1, trainers: 1 }), "--join-verifiers", "1");
  expect(status).toBe(PROCESS_EXIT.config);
  expect(stderr).toContain("this run has no verifier hosts");
  expect(stderr).toContain("hardware.processes.verifiers of 1 or more");
});
