// Checks the imports of lib/ and csrc/ against the tables in docs/architecture.md §3, which the test reads.
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { BUNDLED } from "../../scripts/bundle.mjs";
import { CPP_ENDINGS, cppIncludes, filesUnder, findCycle, read, tsImports } from "./source-tree.ts";

type ModuleMap = ReadonlyMap<string, ReadonlySet<string>>;

/** The entry point, which only re-exports modules. No file inside lib/ imports it, so it does not belong to the shared files. */
const ENTRY_POINT = "lib/index.ts";

/** Reads the table under `heading`: each module with the modules it may import. */
function readMap(heading: string): ModuleMap {
  const page = read("docs/architecture.md");
  const section = page.slice(page.indexOf("## 3. Modules and imports"), page.indexOf("## 4."));
  const table = section.slice(section.indexOf(heading)).split("\n\n")[0]!;
  const below = section.slice(section.indexOf(heading) + heading.length);
  const rows = (table.includes("|") ? table : below)
    .slice((table.includes("|") ? table : below).indexOf("|"))
    .split("\n")
    .filter((line, i, all) => line.startsWith("|") && all.slice(0, i).every((l) => l.startsWith("|")))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const names = rows.map(([name]) => moduleName(name!));
  return new Map(rows.map((row, i) => [names[i]!, importsOf(row.at(-1)!, names, i)]));
}

function moduleName(cell: string): string {
  return cell.startsWith("shared") ? "shared" : cell.replace(/[`/]/g, "");
}

/** Parses a cell: "–", "core, kernels", "all above", "all above but orchestration", "all but kernels", "everything". */
function importsOf(cell: string, names: readonly string[], row: number): ReadonlySet<string> {
  if (cell === "–") return new Set();
  const [wide, exceptions = ""] = cell.split(" but ");
  const without = exceptions.split(", ");
  if (wide === "everything" || wide === "all") return new Set(names.filter((n) => !without.includes(n)));
  if (wide === "all above") return new Set(names.slice(0, row).filter((n) => !without.includes(n)));
  const listed = cell.split(", ");
  for (const name of listed) if (!names.includes(name)) throw new Error(`"${cell}" names no module: ${name}`);
  return new Set(listed);
}

type Top = "csrc" | "lib" | "lib/orchestration";

/**
 * The module of a file under `top`: its first folder. A file directly under lib/ belongs to "shared", one directly
 * under the others to no module.
 */
function moduleOf(file: string, top: Top): string | undefined {
  const parts = posix.relative(top, file).split("/");
  if (parts[0] === "..") return undefined;
  return parts.length > 1 ? parts[0] : top === "lib" ? "shared" : "";
}

/** Returns the imports that the map forbids, one sentence each. */
function violations(file: string, targets: readonly string[], top: Top, map: ModuleMap): string[] {
  const from = moduleOf(file, top)!;
  const allowed = map.get(from);
  if (allowed === undefined) return [`${file}: "${from}" is no module; add it to docs/architecture.md §3`];
  return targets.flatMap((target) => {
    const to = moduleOf(target, top);
    if (to === undefined) return [`${file} reaches out of ${top}/ to ${target}`];
    return to === from || allowed.has(to) ? [] : [`${file} (${from}) may not import ${target} (${to})`];
  });
}

const native = readMap("`csrc/`:");
const decisions = readMap("`lib/`:");
const cppFiles = filesUnder("csrc", CPP_ENDINGS);
const tsFiles = filesUnder("lib", [".ts"]);

describe("the module map", () => {
  test("is read from docs/architecture.md as written there", () => {
    expect([...native.keys()]).toEqual([
      "core",
      "text",
      "kernels",
      "model",
      "engine",
      "trainer",
      "dist",
      "sandbox",
      "addon",
    ]);
    expect(native.get("addon")).toEqual(
      new Set(["core", "text", "model", "engine", "trainer", "dist", "sandbox", "addon"]),
    );
    expect(decisions.get("shared")).toEqual(new Set());
    expect(decisions.get("report")).toEqual(new Set(["shared", "metrics"]));
    expect(decisions.get("evaluation")?.has("orchestration")).toBe(false);
    expect(decisions.get("evaluation")?.has("native")).toBe(true);
    expect(decisions.get("cli")?.size).toBe(decisions.size);
  });

  test("keeps engine and trainer apart", () => {
    expect(native.get("engine")?.has("trainer")).toBe(false);
    expect(native.get("trainer")?.has("engine")).toBe(false);
  });
});

describe("a violation is found", () => {
  test.each([
    ["lib/rewards/pool/pool.ts", ["lib/native/engine.ts"], "may not import lib/native/engine.ts"],
    ["lib/data/reader.ts", ["lib/config/schema.ts"], "may not import"],
    ["lib/attic/x.ts", [], '"attic" is no module'],
    ["lib/native/x.ts", ["test/fixtures/y.ts"], "reaches out of lib/"],
  ] as const)("%s -> %j", (file, targets, complaint) => {
    expect(violations(file, targets, "lib", decisions).join()).toContain(complaint);
  });

  test.each([
    ["csrc/engine/engine.cc", "csrc/trainer/trainer.h"],
    ["csrc/core/arena.cc", "csrc/kernels/matmul.h"],
    ["csrc/addon/addon.cc", "csrc/kernels/matmul.h"],
  ])("%s -> %s", (file, target) => {
    expect(violations(file, [target], "csrc", native)).toHaveLength(1);
  });

  test("a cycle is named", () => {
    const edges = new Map([
      ["a", ["b"]],
      ["b", ["c"]],
      ["c", ["b"]],
    ]);
    expect(findCycle(edges)).toEqual(["b", "c", "b"]);
  });
});

describe("csrc", () => {
  test("every include stays inside the map", () => {
    expect(cppFiles.flatMap((file) => violations(file, cppIncludes(file), "csrc", native))).toEqual([]);
  });

  test("no file includes itself, however far around", () => {
    expect(findCycle(new Map(cppFiles.map((file) => [file, cppIncludes(file)])))).toBeUndefined();
  });

  test("only the addon knows Node", () => {
    const knowing = cppFiles.filter((file) =>
      /#\s*include\s*[<"](?:napi|node_api|node|v8|uv)\b/.test(read(file)),
    );
    expect(knowing.filter((file) => !file.startsWith("csrc/addon/"))).toEqual([]);
  });
});

describe("lib", () => {
  const inside = tsFiles.filter((file) => file !== ENTRY_POINT);

  test("every import stays inside the map", () => {
    const broken = inside.flatMap((file) => violations(file, tsImports(file).files, "lib", decisions));
    expect(broken).toEqual([]);
  });

  test("no file imports itself, however far around, types included", () => {
    expect(findCycle(new Map(tsFiles.map((file) => [file, tsImports(file).files])))).toBeUndefined();
  });

  test("nothing inside comes in through the entry point", () => {
    expect(inside.filter((file) => tsImports(file).files.includes(ENTRY_POINT))).toEqual([]);
  });

  test("every package is Node's, a declared dependency or part of the bundle", () => {
    const declared = JSON.parse(read("package.json")) as {
      dependencies: Record<string, string>;
      optionalDependencies?: object;
    };
    const known = new Set([
      ...Object.keys(declared.dependencies),
      ...Object.keys(declared.optionalDependencies ?? {}),
      ...(BUNDLED as readonly string[]),
    ]);
    const strange = tsFiles.flatMap((file) =>
      tsImports(file)
        .packages.filter((p) => !p.startsWith("node:") && !known.has(p))
        .map((p) => `${file}: ${p}`),
    );
    expect(strange).toEqual([]);
  });

  test("only native loads the addon", () => {
    const loading = tsFiles.filter((file) => tsImports(file).packages.includes("node-gyp-build"));
    const named = tsFiles.filter((file) => /require\([^)]*(?:node-gyp-build|\.node["'`])/.test(read(file)));
    expect([...loading, ...named].filter((file) => !file.startsWith("lib/native/"))).toEqual([]);
  });
});

describe("lib/orchestration", () => {
  const top = "lib/orchestration";
  const inside = tsFiles.filter((file) => file.startsWith(`${top}/`) && file !== `${top}/index.ts`);
  const map = readMap("`lib/orchestration/`, each");
  const targets = (file: string) => tsImports(file).files.filter((to) => to.startsWith(`${top}/`));

  test("has the modules of the page, and a file is in one of them", () => {
    expect(new Set(inside.map((file) => moduleOf(file, top)))).toEqual(new Set(map.keys()));
  });

  test("every import stays inside the map", () => {
    expect(inside.flatMap((file) => violations(file, targets(file), top, map))).toEqual([]);
    expect(violations(`${top}/pipeline/x.ts`, [`${top}/run/index.ts`], top, map)).toHaveLength(1);
  });

  test("a module is entered by its index.ts alone", () => {
    const entered = [...inside, `${top}/index.ts`].flatMap((file) =>
      targets(file)
        .filter((to) => moduleOf(to, top) !== moduleOf(file, top) && !to.endsWith("/index.ts"))
        .map((to) => `${file} imports ${to}`),
    );
    expect(entered).toEqual([]);
  });
});
