// A domain is a wing of its own, and the two halves of a puzzle are two readings of its rules.
import { describe, expect, test } from "vitest";
import { filesUnder, reachOf, read, tsImports } from "./source-tree.ts";

const files = filesUnder("lib/domains", [".ts"]);

/** The domain that a file belongs to; undefined for what all of them share. */
const wingOf = (file: string): string | undefined => /^lib\/domains\/([^/]+)\//.exec(file)?.[1];

describe("wings", () => {
  /** Doors between wings. */
  const DOORS: ReadonlySet<string> = new Set(["logic -> math"]);

  test("there is more than one, each with its face", () => {
    const wings = [...new Set(files.map(wingOf).filter((wing) => wing !== undefined))];
    expect(wings.length).toBeGreaterThan(4);
    expect(wings.filter((wing) => !files.includes(`lib/domains/${wing}/index.ts`))).toEqual([]);
  });

  test("none looks into another", () => {
    const found = files.flatMap((file) => {
      const from = wingOf(file);
      if (from === undefined) return [];
      return tsImports(file)
        .files.map((target) => [wingOf(target), target] as const)
        .filter(([to]) => to !== undefined && to !== from && !DOORS.has(`${from} -> ${to}`))
        .map(([, target]) => `${file} looks into ${target}`);
    });
    expect(found).toEqual([]);
  });
});

describe("a process that judges", () => {
  const wings = [...new Set(files.map(wingOf).filter((wing) => wing !== undefined))];

  test.each(wings)("loads of %s who judges, and nothing of what reads and draws", (wing) => {
    const loaded = reachOf(["lib/rewards/pool/verifier-main.ts", `lib/domains/${wing}/verifiers.ts`]);
    expect(
      loaded.filter((file) => /\/(?:read|drawing)\/|\/(?:generate|draw|cases|registry)\.ts$/.test(file)),
    ).toEqual([]);
    const others = loaded.filter(
      (file) => ![undefined, wing, wing === "logic" ? "math" : wing].includes(wingOf(file)),
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

describe("whoever draws a puzzle and whoever judges it", () => {
  const drawing = (file: string) => /^lib\/domains\/logic\/(?:games\/.*\/draw\.ts|drawing\/)/.test(file);
  const judging = (file: string) => /^lib\/domains\/logic\/(?:games\/.*\/judge\.ts|judging\/)/.test(file);

  test("are there for every game", () => {
    const games = files.filter((file) => file.includes("/logic/games/"));
    const of = (name: string) =>
      games.filter((file) => file.endsWith(`/${name}`)).map((file) => file.slice(0, -name.length));
    expect(of("draw.ts").length).toBeGreaterThan(30);
    expect(of("draw.ts")).toEqual(of("judge.ts"));
  });

  test("know nothing of each other, however far around", () => {
    for (const file of files.filter(drawing))
      expect([file, reachOf([file]).filter(judging)]).toEqual([file, []]);
    for (const file of files.filter(judging))
      expect([file, reachOf([file]).filter(drawing)]).toEqual([file, []]);
  });
});

test("data names no domain", () => {
  const wings = new Set(files.map(wingOf));
  const named = filesUnder("lib/data", [".ts"]).flatMap((file) =>
    [...read(file).matchAll(/"([a-z-]+)"/g)]
      .filter(([, word]) => wings.has(word))
      .map(([, word]) => `${file}: ${word}`),
  );
  expect(named).toEqual([]);
});
