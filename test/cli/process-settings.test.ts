import { expect, test } from "vitest";
import { processSettings } from "../../lib/cli/process-settings.ts";

test("one process trains, the others sample", () => {
  expect(processSettings("4")).toEqual(["hardware.processes.actors=3", "hardware.processes.trainers=1"]);
});

test.each(["1", "65", "two", "2.5", ""])("%s processes are refused", (number) => {
  expect(() => processSettings(number)).toThrow(/not a number from 2 to 64/);
});
