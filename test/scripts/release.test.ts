import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { canProve, changesOf } from "../../scripts/release.mjs";

const CHANGELOG = `# Changelog

## Unreleased

| what | old | new |
|---|---|---|
| a | – | b |
| c | – | d |

## 0.2.0 (2026-01-02)

| what | old | new |
|---|---|---|
| e | – | f |

## 0.2.0-beta

nothing
`;

test("the rows of a version are those below its own heading", () => {
  expect(changesOf(CHANGELOG, "Unreleased")).toEqual(["| a | – | b |", "| c | – | d |"]);
  expect(changesOf(CHANGELOG, "0.2.0")).toEqual(["| e | – | f |"]);
  expect(changesOf(CHANGELOG, "0.2.0-beta")).toEqual([]);
  expect(changesOf(CHANGELOG, "0.3.0")).toBeUndefined();
});

test("provenance needs a workflow that may ask for an identity", () => {
  expect(canProve({})).toBe(false);
  expect(canProve({ ACTIONS_ID_TOKEN_REQUEST_URL: "https://example.org" })).toBe(true);
});
