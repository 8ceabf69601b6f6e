import { describe, expect, test } from "vitest";
import { GAMES } from "../../../lib/domains/logic/games.ts";
import { logic } from "../../../lib/domains/logic/verify.ts";

const task = "boolean_expressions";
const reference = { task, game_data: { answer: "A" } };
const judge = async (text: string, raw: unknown = reference) => {
  const { status, reason } = await logic.verify({ text, finish: "length" }, logic.parseReference(raw));
  return `${status}: ${reason}`;
};

test("both shapes of a row are read", async () => {
  const text = { task, game_data_str: '{"answer":"A","metadata":null}' };
  expect(await judge("\\boxed{A}", text)).toBe("correct: the options that hold");
  expect(logic.parseReference(text)).toEqual(logic.parseReference(reference));
});

test("strict reads what follows the thought, reference the whole completion", async () => {
  const cut = "<think>\\boxed{A}";
  const changed = "<think>\\boxed{B}</think> it is \\boxed{A}<eos>";
  const only = "<think>\\boxed{A}</think> it is A";
  expect([await judge(cut), await judge(changed), await judge(only)]).toEqual([
    "no_answer: blank answer",
    "correct: the options that hold",
    "wrong: no \\boxed{}",
  ]);
  const lax = { ...reference, compat: "reference" };
  expect([await judge(cut, lax), await judge(only, lax), await judge(" \n", lax)]).toEqual([
    "correct: the options that hold",
    "correct: the options that hold",
    "no_answer: blank answer",
  ]);
});

test("an answer over a mebibyte is not read", async () => {
  expect(await judge(`${" a".repeat(1 << 19)}\\boxed{A}`)).toBe("unparsable: answer over 1048576 characters");
});

describe("a bad reference is refused", () => {
  test.each([
    [null, "reference is not { task"],
    [{ task: 3 }, "reference is not { task"],
    [{ ...reference, compat: "lax" }, "reference is not { task"],
    [{ task: "poetry", game_data: {} }, 'no game is called "poetry"'],
    [{ task: "__proto__", game_data: {} }, 'no game is called "__proto__"'],
    [{ task }, "neither game_data nor game_data_str"],
    [{ task, game_data_str: "{" }, "game_data_str is no JSON"],
    [{ task, game_data: { answer: 5 } }, "logic: boolean_expressions: game_data.answer: "],
  ])("%j", (raw, message) => {
    expect(() => logic.parseReference(raw)).toThrowError(
      expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining(message) }),
    );
  });

  test("and the games there are are named", () => {
    const error = (() => {
      try {
        return logic.parseReference({ task: "poetry" });
      } catch (caught) {
        return caught;
      }
    })();
    for (const game of GAMES) expect(error).toMatchObject({ hint: expect.stringContaining(game.task) });
  });
});
