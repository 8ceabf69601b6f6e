import { expect, test, vi } from "vitest";
import { processSettings } from "../../lib/cli/process-settings.ts";

const gloo = vi.hoisted(() => ({ version: "0.5" as string | null, reason: null as string | null }));
vi.mock("../../lib/native/index.ts", () => ({ info: () => ({ gloo }) }));

const settings = (actors: number, trainers: number) => [
  `hardware.processes.actors=${actors}`,
  `hardware.processes.trainers=${trainers}`,
];

test.each([
  ["2", 1, 1],
  ["3", 2, 1],
  ["4", 2, 2],
  ["7", 4, 3],
])("of %s processes %i sample and %i train", async (number, actors, trainers) => {
  expect(await processSettings(number, () => {})).toEqual(settings(actors, trainers));
});

test("without Gloo one trains, and it is said why", async () => {
  Object.assign(gloo, { version: null, reason: "apt-get install libgloo-dev, then npx hone build" });
  const said: string[] = [];
  expect(await processSettings("4", (line) => said.push(line))).toEqual(settings(3, 1));
  expect(said).toEqual([expect.stringMatching(/one process trains instead of 2.*libgloo-dev/)]);
});

test.each(["1", "65", "two", "2.5", ""])("%s processes are refused", async (number) => {
  await expect(processSettings(number, () => {})).rejects.toThrow(/not a number from 2 to 64/);
});
