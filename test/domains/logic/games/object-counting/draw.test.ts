import { expect, test } from "vitest";
import { objectCounting } from "../../../../../lib/domains/logic/games/object-counting/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

/** The things of each kind, from common knowledge. */
const KINDS: Readonly<Record<string, RegExp>> = {
  fruit: /^(apples|bananas|cherries|figs|grapes|lemons|mangoes|pears|plums)$/,
  animals: /^(cats|cows|dogs|goats|hens|horses|parrots|rabbits|sheep)$/,
  tools: /^(chisels|drills|hammers|pliers|rakes|saws|screwdrivers|shovels|wrenches)$/,
  furniture: /^(armchairs|beds|benches|chairs|desks|shelves|sofas|stools|tables)$/,
};

test.each(LEVELS)(
  "at level %i the stated number is that of the sentences about the owner and the kinds",
  (level) => {
    for (const { question, answer, effort } of draws(objectCounting, level)) {
      const [story, asked] = question.split("\n\n") as [string, string];
      const [, kinds, owner] = /How many pieces of (.+) together (?:do|does) (\w+) have/.exec(asked)!;
      const sentences = [
        ...story.matchAll(/(\w+) ha(?:s|ve) (\d+) (\w+)(?:, then gets? (\d+) more and loses? (\d+))?\./g),
      ];
      const counted = sentences.filter(
        ([, who, , thing]) =>
          who === owner && kinds!.split(" and ").some((kind) => KINDS[kind]!.test(thing!)),
      );
      const total = counted.reduce(
        (sum, [, , n, , more = 0, less = 0]) => sum + Number(n) + Number(more) - Number(less),
        0,
      );
      expect([question, answer]).toEqual([question, `${total}`]);
      expect(effort).toBe(sentences.length);
      expect(sentences.map(([text]) => text).join(" ")).toBe(story);
    }
  },
);
