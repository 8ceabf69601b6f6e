import { expect, test } from "vitest";
import { LOGIC } from "../../../lib/domains/logic/index.ts";
import { PUZZLES } from "../../../lib/domains/logic/puzzles.ts";

test("puzzles are a source together and one by one", async () => {
  const tasks = PUZZLES.map(({ task }) => task);
  const drawn = Object.entries(LOGIC.sources).map(async ([name, load]) => [
    name,
    (await load()).map((one) => one.name),
  ]);
  expect(await Promise.all(drawn)).toEqual([
    ["puzzles", tasks],
    ...tasks.map((task) => [`puzzles/${task}`, [task]]),
  ]);
});
