import { describe, expect, test } from "vitest";
import {
  allDifferent,
  bit,
  type Constraint,
  finallyHolds,
  oneOf,
  ones,
  search,
  span,
  sumWithin,
  valuesOf,
} from "../../../../lib/domains/logic/drawing/finite-domain.ts";
import { CounterRandom } from "../../../../lib/random.ts";
import { assignments } from "./mutations.ts";

// Deliberate faults (mutants) that these tests detect: a term that exactly reaches the upper bound is cut.

const total = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

test("masks and values are two forms of one set", () => {
  expect([bit(0), bit(30), span(1, 3), span(0, 30)]).toEqual([1, 2 ** 30, 0b1110, 2 ** 31 - 1]);
  expect([valuesOf(0), valuesOf(0b1001), valuesOf(span(28, 30))]).toEqual([[], [0, 3], [28, 29, 30]]);
});

interface Rule {
  readonly constraint: Constraint;
  readonly holds: (values: readonly number[]) => boolean;
}

/** Random rules over variables 0..count-1 with values 0..3, each with a function that evaluates it. */
function randomRule(random: CounterRandom, count: number): Rule {
  const variables = random.sample(
    Array.from({ length: count }, (_, i) => i),
    random.int(2, 4),
  );
  const of = (values: readonly number[]) => variables.map((v) => values[v]!);
  const kind = random.int(0, 3);
  if (kind === 0)
    return { constraint: allDifferent(variables), holds: (v) => new Set(of(v)).size === variables.length };
  if (kind === 1) {
    const terms = variables.map((variable) => ({
      variable,
      weights: [0, 1, 2, 3].map(() => random.int(-3, 3)),
    }));
    const low = random.int(-3, 3);
    const high = low + random.int(0, 2);
    const sum = (v: readonly number[]) => total(terms.map(({ variable, weights }) => weights[v[variable]!]!));
    return { constraint: sumWithin(terms, low, high), holds: (v) => sum(v) >= low && sum(v) <= high };
  }
  if (kind === 2) {
    const tuples = Array.from({ length: 12 }, () => variables.map(() => random.int(0, 3)));
    return {
      constraint: oneOf(variables, tuples),
      holds: (v) => tuples.some((t) => String(t) === String(of(v))),
    };
  }
  const even = (values: readonly number[]) => total(of(values)) % 2 === 0;
  return {
    constraint: finallyHolds(variables, (value) => total(variables.map(value)) % 2 === 0),
    holds: even,
  };
}

test("random problems have exactly the solutions that trying every assignment finds", () => {
  const counts = new Set<number>();
  for (let seed = 0; seed < 300; seed++) {
    const random = new CounterRandom(seed, 1);
    const count = random.int(3, 5);
    const domains = Array.from({ length: count }, () => random.int(1, 15));
    const rules = Array.from({ length: random.int(1, 5) }, () => randomRule(random, count));
    const model = { domains, constraints: rules.map(({ constraint }) => constraint) };
    const expected = [...assignments(domains.map(valuesOf))].filter((v) =>
      rules.every(({ holds }) => holds(v)),
    );
    const { solutions, complete } = search(model, { limit: 2000 });
    const sorted = (lists: readonly (readonly number[])[]) => lists.map(String).sort();
    expect([seed, complete, sorted(solutions)]).toEqual([seed, true, sorted(expected)]);
    counts.add(expected.length);
  }
  expect(counts.size).toBeGreaterThan(12);
});

describe("search", () => {
  const queens = (n: number): Constraint[] => {
    const columns = Array.from({ length: n }, (_, i) => i);
    const apart = columns.flatMap((a) => columns.slice(a + 1).map((b) => [a, b] as const));
    const tuples = (gap: number) =>
      columns.flatMap((x) => columns.filter((y) => Math.abs(x - y) !== gap).map((y) => [x, y]));
    return [allDifferent(columns), ...apart.map(([a, b]) => oneOf([a, b], tuples(b - a)))];
  };
  const board = (n: number) => ({ domains: Array(n).fill(span(0, n - 1)), constraints: queens(n) });

  test.each([
    [4, 2],
    [5, 10],
    [6, 4],
    [7, 40],
    [8, 92],
  ])("%i queens stand in %i ways", (n, ways) => {
    expect(search(board(n), { limit: 1000 }).solutions.length).toBe(ways);
  });

  test("stops at the limit, and says when it gave up", () => {
    expect(search(board(8))).toMatchObject({ complete: true, solutions: { length: 2 } });
    const { solutions, nodes, complete } = search(board(8), { limit: 1000, maxNodes: 30 });
    expect([solutions.length < 92, nodes, complete]).toEqual([true, 30, false]);
  });

  test("finds other solutions first with other streams, the same with the same", () => {
    const first = (seed: number) =>
      search(board(8), { limit: 1, random: new CounterRandom(seed) }).solutions[0];
    expect(first(1)).toEqual(first(1));
    expect(new Set([1, 2, 3, 4, 5, 6].map((seed) => String(first(seed)))).size).toBeGreaterThan(3);
  });

  test("needs no branch where pruning decides, and finds contradictions", () => {
    const fixed = { domains: [span(0, 1), bit(1)], constraints: [allDifferent([0, 1])] };
    expect(search(fixed)).toEqual({ solutions: [[0, 1]], nodes: 0, complete: true });
    const none = { solutions: [], nodes: 0, complete: true };
    expect(search({ domains: [0], constraints: [] })).toEqual(none);
    expect(
      search({ domains: [span(0, 1), span(0, 1)], constraints: [sumWithin(ones([0, 1]), 3, 4)] }),
    ).toEqual(none);
    expect(search({ domains: [bit(2), bit(2)], constraints: [allDifferent([0, 1])] })).toEqual(none);
  });
});
