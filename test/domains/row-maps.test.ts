import { expect, test } from "vitest";
import { KNOWN_MAPS, mapHint } from "../../lib/domains/row-maps.ts";

// test/contract/published-rows.test.ts tests that each map makes readable rows.

test("a hint is a sentence and three lines that begin with map", () => {
  const hint = mapHint({ data_source: "logic__ordering", reward_model: {} })!;
  const [sentence, ...lines] = hint.split("\n");
  expect(sentence).toMatch(/^Rows of Guru's puzzles .*:$/);
  expect(lines).toHaveLength(3);
  for (const { map } of KNOWN_MAPS) expect(map).toMatch(/^map: \(.*\n.*\n.*$/);
});

test("other rows have none, whatever they are", () => {
  for (const row of [
    null,
    undefined,
    7,
    "text",
    [],
    {},
    { data_source: "logic__ordering" },
    { input: "text", output: "text" },
  ])
    expect(mapHint(row)).toBeUndefined();
  const shared = {
    system: "Be brief.",
    conversations: [
      { from: "user", value: "Hi" },
      { from: "gpt", value: "[1] Hi" },
    ],
  };
  expect(mapHint(shared)).toBeUndefined();
});
