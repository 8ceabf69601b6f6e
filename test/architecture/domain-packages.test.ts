// Each domain is a package of its own; what draws a puzzle and what judges it are implemented independently.
import { describe, expect, test } from "vitest";
import { filesUnder, reachOf, read, tsImports } from "./source-tree.ts";

const files = filesUnder("lib/domains", [".ts"]);

/** The domain of a file; undefined for a file that all domains share. */
const packageOf = (file: string): string | undefined => /^lib\/domains\/([^/]+)\//.exec(file)?.[1];

describe("domain packages", () => {
  /** Imports allowed between domain packages. */
  const ALLOWED: ReadonlySet<string> = new Set(["logic -> math"]);

  test("there are several, each with an index.ts", () => {
    const packages = [...new Set(files.map(packageOf).filter((domain) => domain !== undefined))];
    expect(packages.length).toBeGreaterThan(4);
    expect(packages.filter((domain) => !files.includes(`lib/domains/${domain}/index.ts`))).toEqual([]);
  });

  test("none imports another", () => {
    const found = files.flatMap((file) => {
      const from = packageOf(file);
      if (from === undefined) return [];
      return tsImports(file)
        .files.map((target) => [packageOf(target), target] as const)
        .filter(([to]) => to !== undefined && to !== from && !ALLOWED.has(`${from} -> ${to}`))
        .map(([, target]) => `${file} imports ${target}`);
    });
    expect(found).toEqual([]);
  });
});

describe("a process that judges", () => {
  const packages = [...new Set(files.map(packageOf).filter((domain) => domain !== undefined))];

  test.each(packages)("loads the verifiers of %s and none of its readers or generators", (domain) => {
    const loaded = reachOf(["lib/rewards/pool/verifier-main.ts", `lib/domains/${domain}/verifiers.ts`]);
    expect(
      loaded.filter((file) => /\/(?:read|drawing)\/|\/(?:generate|draw|cases|registry)\.ts$/.test(file)),
    ).toEqual([]);
    const others = loaded.filter(
      (file) => ![undefined, domain, domain === "logic" ? "math" : domain].includes(packageOf(file)),
    );
    expect(others).toEqual([]);
  });
});

describe("strict and reference judging", () => {
  const code = (file: string) => read(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  const chooses = (file: string) => /^lib\/domains\/[^/]+\/verify\.ts$/.test(file);

  test("are told apart where a verifier reads its reference, and nowhere below", () => {
    const known = new Set(["lib/domains/compat.ts", "lib/domains/index.ts"]);
    const knowing = files.filter((file) => /compat(?!ib)/i.test(code(file)));
    expect(knowing.filter((file) => !known.has(file) && !chooses(file))).toEqual([]);
    expect(knowing.filter(chooses).length).toBeGreaterThan(5);
    for (const file of knowing.filter(chooses))
      expect([file, code(file).match(/RULES\[compat\]/g)]).toEqual([file, ["RULES[compat]"]]);
  });

  test("are two sets of rules: no file asks by name which one it is in", () => {
    const asks = /[=!]==\s*"(?:strict|reference)"|"(?:strict|reference)"\s*[=!]==/;
    expect(files.filter((file) => asks.test(code(file)))).toEqual([]);
  });
});

describe("drawing and judging a puzzle", () => {
  const drawing = (file: string) => /^lib\/domains\/logic\/(?:games\/.*\/draw\.ts|drawing\/)/.test(file);
  const judging = (file: string) => /^lib\/domains\/logic\/(?:games\/.*\/judge\.ts|judging\/)/.test(file);

  test("are there for every game", () => {
    const games = files.filter((file) => file.includes("/logic/games/"));
    const of = (name: string) =>
      games.filter((file) => file.endsWith(`/${name}`)).map((file) => file.slice(0, -name.length));
    expect(of("draw.ts").length).toBeGreaterThan(30);
    expect(of("draw.ts")).toEqual(of("judge.ts"));
  });

  test("never import each other, directly or indirectly", () => {
    for (const file of files.filter(drawing))
      expect([file, reachOf([file]).filter(judging)]).toEqual([file, []]);
    for (const file of files.filter(judging))
      expect([file, reachOf([file]).filter(drawing)]).toEqual([file, []]);
  });
});

test("data names no domain", () => {
  const packages = new Set(files.map(packageOf));
  const named = filesUnder("lib/data", [".ts"]).flatMap((file) =>
    [...read(file).matchAll(/"([a-z-]+)"/g)]
      .filter(([, word]) => packages.has(word))
      .map(([, word]) => `${file}: ${word}`),
  );
  expect(named).toEqual([]);
});
