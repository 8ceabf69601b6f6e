import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectDomains, readMachine } from "../../lib/simulate/machine.ts";
import { machineOf } from "./machines.ts";

const written = (value: unknown): string => {
  const path = join(mkdtempSync(join(tmpdir(), "machine-")), "machine.json");
  writeFileSync(path, JSON.stringify(value));
  return path;
};

test("a machine comes back as it was written, with the defaults of what it leaves out", () => {
  expect(readMachine(written(machineOf()))).toEqual(machineOf());
  const { swapPerToken: _, speedDuringStep: __, ...actor } = machineOf().actor;
  expect(readMachine(written({ ...machineOf(), actor }))).toEqual(machineOf());
});

test("every field that is wrong is named", () => {
  const path = written({ ...machineOf(), actors: 0, trainers: "one" });
  expect(() => readMachine(path)).toThrow(/actors: .*trainers: /);
  expect(() => readMachine("nowhere.json")).toThrow(/nowhere/);
});

test("domains that a machine does not know are named", () => {
  expect(() => expectDomains(machineOf(), ["math"])).not.toThrow();
  expect(() => expectDomains(machineOf(), ["math", "art", "law"])).toThrow(/art, law/);
});
