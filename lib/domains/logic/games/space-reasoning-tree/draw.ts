import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { WORDS } from "../../drawing/vocabulary.ts";

const MAX_CHILDREN = 4;

/** A tree by the parent of each node; the root, the first, has none. */
class Tree {
  readonly nodes: readonly string[];
  readonly #parent = new Map<string, string>();

  constructor(random: CounterRandom, size: number) {
    this.nodes = random.sample(WORDS, size);
    for (const [i, node] of this.nodes.entries()) {
      if (i === 0) continue;
      const free = this.nodes.slice(0, i).filter((other) => this.children(other).length < MAX_CHILDREN);
      this.#parent.set(node, random.choice(free));
    }
  }

  children = (node: string): string[] => this.nodes.filter((other) => this.#parent.get(other) === node);
  grandchildren = (node: string): string[] => this.children(node).flatMap(this.children);

  siblings = (node: string): string[] => {
    const parent = this.#parent.get(node);
    return parent === undefined ? [] : this.children(parent).filter((other) => other !== node);
  };

  cousins = (node: string): string[] => this.siblings(this.#parent.get(node) ?? node).flatMap(this.children);

  ancestors = (node: string): string[] => {
    const parent = this.#parent.get(node);
    return parent === undefined ? [] : [parent, ...this.ancestors(parent)];
  };
}

const RELATIONS = {
  siblings: "siblings (other children of its parent)",
  grandchildren: "grandchildren",
  cousins: "cousins (children of its parent's siblings)",
  ancestors: "ancestors (its parent, the parent's parent, and so on)",
} as const;

/** Asks which nodes of a tree are in a relation to one; the question describes the whole tree. */
export const spaceReasoningTree: PuzzleGenerator = {
  task: "space_reasoning_tree",
  measure: "nodes",

  draw(random, level) {
    const tree = new Tree(random, atLevel([7, 12, 20, 34], level));
    const families = random
      .shuffle(tree.nodes)
      .filter((node) => tree.children(node).length > 0)
      .map((node) => `The children of ${node} are: ${random.shuffle(tree.children(node)).join(", ")}.`);
    const relations = Object.keys(RELATIONS) as (keyof typeof RELATIONS)[];
    const possible = relations.flatMap((relation) =>
      tree.nodes.filter((node) => tree[relation](node).length > 0).map((node) => [relation, node] as const),
    );
    const [relation, node] = random.choice(possible);
    const answer = tree[relation](node).sort().join(", ");
    return {
      question: `A tree:\n\n${families.join("\n")}\n\nEvery other node has no children. What are the ${RELATIONS[relation]} of ${node}? Put all of them into \\boxed{}, separated by commas.`,
      solution: `\\boxed{${answer}}`,
      answer,
      metadata: { nodes: tree.nodes.length, relation },
      effort: tree.nodes.length,
    };
  },
};
