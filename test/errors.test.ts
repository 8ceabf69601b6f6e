import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ConfigError, HoneError } from "../lib/errors.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const catalogue = [...read("lib/errors.ts").matchAll(/\| "(HONE_ERR_[A-Z_]+)"/g)].map((m) => m[1]);

test("docs/reference/errors.md lists exactly the codes of the catalogue", () => {
  const documented = [...read("docs/reference/errors.md").matchAll(/^\| (HONE_ERR_[A-Z_]+) \|/gm)].map(
    (m) => m[1],
  );
  expect(documented.toSorted()).toEqual(catalogue.toSorted());
});

test("every code of the native core has its name in the catalogue", () => {
  const native = [...read("csrc/core/error.cc").matchAll(/return "([A-Z_]+)";/g)].map(
    (m) => `HONE_ERR_${m[1]}`,
  );
  expect(new Set(native).size).toBeGreaterThanOrEqual(10);
  for (const code of native) expect(catalogue).toContain(code);
});

test("an error carries code, hint, details and cause, and is recognised without its class", () => {
  const cause = new Error("underneath");
  const error = new HoneError("HONE_ERR_IO", "disk is full", {
    cause,
    hint: "free some",
    details: { bytes: 3 },
  });
  expect({ ...error, message: error.message, cause: error.cause }).toEqual({
    name: "HoneError",
    code: "HONE_ERR_IO",
    message: "disk is full",
    hint: "free some",
    details: { bytes: 3 },
    cause,
  });
  expect(HoneError.is(error)).toBe(true);
  expect(HoneError.is(cause)).toBe(false);
  expect(HoneError.is(null)).toBe(false);
});

test("a config error shows every issue with its path and suggestion", () => {
  const error = new ConfigError("recipe.ts", [
    { path: "objective.clipHigh", message: "is 0.002, below clipLow 0.003" },
    { path: "optimiser", message: "is not a field", suggestion: "optimizer" },
  ]);
  expect(error.message).toBe(
    [
      "recipe.ts: 2 problem(s)",
      "  objective.clipHigh: is 0.002, below clipLow 0.003",
      "  optimiser: is not a field (did you mean optimizer?)",
    ].join("\n"),
  );
  expect(error.issues).toHaveLength(2);
});
