import { expect, test } from "vitest";
import { dyckLanguageErrors } from "../../../../../lib/domains/logic/games/dyck-language-errors/draw.ts";
import { draws, LEVELS, metadataOf } from "../../drawing/draws.ts";

const cancelled = (text: string): string => {
  const shorter = text.replace(/\(\)|\[\]|\{\}|<>/g, "");
  return shorter === text ? text : cancelled(shorter);
};

test.each(LEVELS)(
  "at level %i the position is that of the first prefix that nothing can complete",
  (level) => {
    const kinds = new Set<string>();
    for (const puzzle of draws(dyckLanguageErrors, level, 100)) {
      const text = /\n\n(.+)\n\n/.exec(puzzle.question)![1]!;
      const prefixes = Array.from(text, (_, i) => cancelled(text.slice(0, i + 1)));
      const broken = prefixes.findIndex((left) => /[)\]}>]/.test(left));
      const position = broken >= 0 ? broken + 1 : prefixes.at(-1) === "" ? -1 : text.length + 1;
      expect(puzzle.answer).toBe(`${position}`);
      expect(metadataOf(puzzle)).toMatchObject({ bracket_string: text, is_valid: position === -1 });
      kinds.add(broken >= 0 ? "mismatch" : position === -1 ? "valid" : "unclosed");
    }
    expect([...kinds].sort()).toEqual(["mismatch", "unclosed", "valid"]);
  },
);
