import {
  type Arguments,
  Callable,
  equals,
  Namespace,
  TemplateFault,
  Undefined,
  type Value,
} from "./values.ts";

/** State shared by all iterations of a loop. */
export interface LoopFacts {
  readonly items: readonly Value[];
  /** Depth of recursion of a recursive loop; 1 for the outermost call. */
  readonly depth: number;
  /** The arguments of the last loop.changed(). */
  readonly changes: { last?: Value };
}

/** The variable `loop` in iteration i; its attributes are computed on access. */
export class LoopState extends Namespace {
  override readonly kind = "loop";
  readonly #facts: LoopFacts;
  readonly #i: number;

  constructor(facts: LoopFacts, i: number, call: ((args: Arguments) => Value) | undefined) {
    super([], call);
    this.#facts = facts;
    this.#i = i;
  }

  override get(name: string): Value | undefined {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    return field?.(this.#i, this.#facts);
  }
}

const FIELDS: Readonly<Record<string, (i: number, facts: LoopFacts) => Value>> = {
  index: (i) => i + 1,
  index0: (i) => i,
  revindex: (i, { items }) => items.length - i,
  revindex0: (i, { items }) => items.length - i - 1,
  first: (i) => i === 0,
  last: (i, { items }) => i === items.length - 1,
  length: (_, { items }) => items.length,
  depth: (_, { depth }) => depth,
  depth0: (_, { depth }) => depth - 1,
  previtem: (i, { items }) => (i > 0 ? items[i - 1]! : new Undefined("there is no previous item")),
  nextitem: (i, { items }) => (i + 1 < items.length ? items[i + 1]! : new Undefined("there is no next item")),
  cycle: (i) =>
    new Callable("cycle", ({ positional }) => {
      if (positional.length === 0) throw new TemplateFault("no items for cycling given");
      return positional[i % positional.length]!;
    }),
  changed: (_, { changes }) =>
    new Callable("changed", ({ positional }) => {
      const now = [...positional];
      const same = changes.last !== undefined && equals(changes.last, now);
      changes.last = now;
      return !same;
    }),
};
