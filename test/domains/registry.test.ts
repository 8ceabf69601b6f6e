import { expect, test } from "vitest";
import { findBuiltIn } from "../../lib/domains/load-built-in.ts";
import { DOMAIN_ROWS } from "../../lib/domains/registry.ts";
import type { Verifier } from "../../lib/domains/verifier.ts";
import { staticReachOf } from "../architecture/source-tree.ts";

const verifiers = DOMAIN_ROWS.flatMap(([, domain]) =>
  Object.values(domain.verifiers).map(({ name }) => name),
);
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
  async (name, domain) => {
    const { datasets, families = [], sources = {} } = domain;
    const drawn = await Promise.all(Object.values(sources).map((load) => load()));
    const all = [...Object.values(datasets), ...families, ...drawn.flat()];
    expect(all.length).toBeGreaterThan(0);
    for (const one of all)
      expect([name, verifiers]).toEqual([one.domain, expect.arrayContaining([one.verifier])]);
  },
);

test.each(DOMAIN_ROWS)("what %s says of its verifiers is what they say", async (name, domain) => {
  const { VERIFIERS } = (await import(`../../lib/domains/${name}/verifiers.ts`)) as {
    VERIFIERS: readonly Verifier[];
  };
  const said = VERIFIERS.map(({ name, version, limits }) => ({ name, version, ...(limits && { limits }) }));
  const facts = Object.values(domain.verifiers);
  expect(facts).toEqual(said);
  for (const { name: verifier } of facts) expect(await findBuiltIn(name, verifier)).toBeDefined();
});

test("nothing that judges, draws puzzles or reads cases is loaded with the registry", () => {
  const loaded = staticReachOf("lib/domains/registry.ts");
  expect(loaded).toContain("lib/domains/logic/index.ts");
  const later =
    /\/(?:verify|verifiers|strict|reference|judge|draw|cases|puzzles|games)\.ts$|^lib\/sandbox\/(?!python-sandbox)/;
  expect(loaded.filter((file) => later.test(file))).toEqual([]);
});
