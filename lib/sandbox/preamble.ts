/**
 * Modules whose names a solution may use without importing them, in this order: those of the reference's preamble.
 * Source: PipelineRL, domains/coding.
 */
export const STAR_MODULES = [
  "string",
  "re",
  "datetime",
  "collections",
  "heapq",
  "bisect",
  "copy",
  "math",
  "random",
  "statistics",
  "itertools",
  "functools",
  "operator",
  "io",
  "sys",
  "json",
  "builtins",
  "typing",
] as const;

/** Modules whose own name a solution may also use. */
const NAMED_MODULES = STAR_MODULES.filter((name) => name !== "builtins" && name !== "typing");

/** Exported names by module; see NAMES_SCRIPT. */
export type ModuleNames = ReadonlyMap<string, ReadonlySet<string>>;

/** Python that prints a line for each star module: its name and those it exports, between blanks. */
export const NAMES_SCRIPT = `for m in ${JSON.stringify(STAR_MODULES)}:
    g = {}
    exec("from " + m + " import *", g)
    print(m, *g)
`;

/** Reads what NAMES_SCRIPT printed. */
export function readNames(printed: string): ModuleNames {
  const rows = printed.split("\n").filter((line) => line !== "");
  return new Map(
    rows.map((row) => {
      const [name, ...names] = row.split(" ");
      return [name!, new Set(names)] as const;
    }),
  );
}

/** Words that may be names of the module's scope: not after a dot. Comments and strings count too, which is harmless. */
const WORD = /(?<![\w.])[A-Za-z_]\w*/g;

/**
 * The import statements that define every preamble name used in the source, with the same meaning as the full
 * preamble; the other imports would only cost time. Without a table of names: the full preamble.
 */
export function neededImports(source: string, names?: ModuleNames): string[] {
  if (names === undefined) return importsOf(STAR_MODULES, NAMED_MODULES);
  const words = new Set(source.match(WORD));
  const mentions = (exported: ReadonlySet<string> | undefined) => {
    for (const word of words) if (exported?.has(word)) return true;
    return false;
  };
  return importsOf(
    STAR_MODULES.filter((name) => mentions(names.get(name))),
    NAMED_MODULES.filter((name) => words.has(name)),
  );
}

function importsOf(stars: readonly string[], named: readonly string[]): string[] {
  return [...stars.map((name) => `from ${name} import *`), ...named.map((name) => `import ${name}`)];
}
