import { expect, test } from "vitest";
import { DOMAIN_ROWS } from "../../lib/domains/registry.ts";

const verifiers = DOMAIN_ROWS.flatMap(([, domain]) => domain.verifiers.map(({ name }) => name));
const unique = (names: readonly string[]) => expect([...new Set(names)]).toEqual(names);

test("no two domains use one name for a data set, a source or a verifier", () => {
  unique(DOMAIN_ROWS.flatMap(([, { datasets }]) => Object.keys(datasets)));
  unique(DOMAIN_ROWS.flatMap(([name, { sources = {} }]) => [`procedural/${name}`, ...Object.keys(sources)]));
  unique(verifiers);
});

test("short names of data sets are no kinds", () => {
  const kinds = DOMAIN_ROWS.flatMap(([, { datasets }]) => Object.keys(datasets));
  const aliases = DOMAIN_ROWS.flatMap(([, { datasets }]) =>
    Object.values(datasets).flatMap(({ alias = [] }) => alias),
  );
  expect(aliases.length).toBeGreaterThan(1);
  unique([...kinds, ...aliases]);
});

test.each(DOMAIN_ROWS)(
  "what %s reads and draws is of its domain, for a verifier that there is",
  (name, domain) => {
    const { datasets, families = [], sources = {} } = domain;
    const all = [...Object.values(datasets), ...families, ...Object.values(sources).flat()];
    expect(all.length).toBeGreaterThan(0);
    for (const one of all)
      expect([name, verifiers]).toEqual([one.domain, expect.arrayContaining([one.verifier])]);
  },
);
