import { expect, test } from "vitest";
import { spaceReasoningTree } from "../../../../../lib/domains/logic/games/space-reasoning-tree/draw.ts";
import { draws, LEVELS, metadataOf } from "../../drawing/draws.ts";

test.each(LEVELS)("at level %i the stated nodes are all that stand in the relation", (level) => {
  const relations = new Set<string>();
  for (const puzzle of draws(spaceReasoningTree, level)) {
    const parent = new Map<string, string>();
    for (const [, node, children] of puzzle.question.matchAll(/^The children of (\w+) are: (.+)\.$/gm)) {
      for (const child of children!.split(", ")) parent.set(child, node!);
    }
    const nodes = [...new Set([...parent.keys(), ...parent.values()])];
    const [, relation, asked] = /What are the (\w+)[^?]* of (\w+)\?/.exec(puzzle.question)!;
    const up = (node: string | undefined, times: number): string | undefined =>
      times === 0 || node === undefined ? node : up(parent.get(node), times - 1);
    const isAncestor = (node: string): boolean =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9].some((k) => up(asked, k) === node);
    const holds: Record<string, (node: string) => boolean> = {
      siblings: (node) => node !== asked && up(asked, 1) !== undefined && up(node, 1) === up(asked, 1),
      grandchildren: (node) => up(node, 2) === asked,
      cousins: (node) =>
        up(asked, 2) !== undefined && up(node, 2) === up(asked, 2) && up(node, 1) !== up(asked, 1),
      ancestors: isAncestor,
    };
    expect(puzzle.answer).toBe(nodes.filter(holds[relation!]!).sort().join(", "));
    expect(puzzle.answer).not.toBe("");
    expect(metadataOf(puzzle)).toMatchObject({ nodes: nodes.length });
    expect([nodes.length, nodes.length - parent.size]).toEqual([puzzle.effort, 1]);
    relations.add(relation!);
  }
  expect(relations.size).toBe(4);
});
