import { expect, test } from "vitest";
import { z } from "zod";
import { gameData } from "../../../../lib/domains/logic/judging/game.ts";

const parse = gameData("poker", z.object({ metadata: z.object({ n: z.int() }) }));

test("keeps what a game needs of its data", () => {
  expect(parse({ question: "?", metadata: { n: 3, more: 1 } })).toEqual({ metadata: { n: 3 } });
});

test.each([
  [undefined, "logic: poker: game_data: "],
  [{}, "logic: poker: game_data.metadata: "],
  [{ metadata: { n: 1.5 } }, "logic: poker: game_data.metadata.n: "],
])("%j is refused with the field that is wrong", (raw, message) => {
  expect(() => parse(raw)).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining(message) }),
  );
});
