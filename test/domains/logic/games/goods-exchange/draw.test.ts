import { expect, test } from "vitest";
import { goodsExchange } from "../../../../../lib/domains/logic/games/goods-exchange/draw.ts";
import { draws, LEVELS, metadataOf } from "../../drawing/draws.ts";

/** The person whom the words name, directly or as the owner of a thing. */
function person(words: string, owners: ReadonlyMap<string, string>): string {
  const item = /has the (.+)$/.exec(words)?.[1];
  return item === undefined ? words : [...owners].find(([, owned]) => owned === item)![0];
}

test.each(LEVELS)("at level %i the stated owners follow from the story as it is told", (level) => {
  for (const puzzle of draws(goodsExchange, level)) {
    const [start, story] = puzzle.question.split("\n\n") as [string, string];
    const owners = new Map(
      [...start.matchAll(/(\w+) has the ([a-z ]+)\./g)].map(([, who, item]) => [who!, item!]),
    );
    const sentences = story
      .split("\n")
      .map((line) => line.replace(/\. \w+ would like .*$/, "").replace(/\.$/, ""));
    for (const sentence of sentences) {
      const given = /^(\w+) gives the (.+) to (\w+), and \3 gives the (.+) to \1$/.exec(sentence);
      const swapped = /^(.+?) (?:and (\w+) swap what they have|swaps with (.+))$/.exec(sentence);
      const [a, b] = given
        ? [given[1]!, given[3]!]
        : [swapped![1]!, (swapped![2] ?? swapped![3])!].map((words) =>
            person(words.replace("Whoever", "whoever"), owners),
          );
      const [ofA, ofB] = [owners.get(a!)!, owners.get(b!)!];
      if (given) expect([ofA, ofB]).toEqual([given[2], given[4]]);
      expect(a).not.toBe(b);
      owners.set(a!, ofB).set(b!, ofA);
    }
    const text = `(${[...owners].map(([who, item]) => `('${who}','${item}')`).join(",")})`;
    expect(metadataOf(puzzle)).toMatchObject({ owns_after: text });
    expect(puzzle.solution).toContain(text);
    expect(new Set(owners.values()).size).toBe(owners.size);
    expect(puzzle.effort).toBe(sentences.length);
  }
});
