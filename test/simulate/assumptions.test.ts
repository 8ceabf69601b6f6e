import { expect, test } from "vitest";
import { CARDS, PAPER_ANSWERS } from "../../lib/simulate/assumptions.ts";
import { machineSchema } from "../../lib/simulate/machine.ts";
import { machineOf } from "./machines.ts";

test("the paper's five domains have answers that a machine takes, and cards their data sheets", () => {
  expect(Object.keys(PAPER_ANSWERS)).toEqual([
    "math",
    "code",
    "logic",
    "instruction-following",
    "function-calling",
  ]);
  expect(machineSchema.safeParse(machineOf({ domains: { ...PAPER_ANSWERS } })).success).toBe(true);
  expect(CARDS.find(({ name }) => name === "H200")).toMatchObject({ bandwidth: 4.8e12, flops: 989e12 });
});
