/** Lists the C++ classes of the tree with their sizes: the body, and the members defined outside of it. */
import { blankNonCode, cppFunctions, cppIncludes, lineCounter, matchingBrace } from "./source-tree.ts";

export interface ClassSize {
  readonly file: string;
  readonly line: number;
  /** The name, with the classes around it: `Trainer::Impl`. */
  readonly name: string;
  /**
   * Lines from the class's head to its last brace, comments included. Docstrings of members defined outside are not
   * counted.
   */
  readonly lines: number;
}

interface Declared {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  readonly begin: number;
  readonly end: number;
}

const HEAD =
  /(?<!enum\s)\b(?:class|struct)\s+(?:__attribute__\(\(\w+\)\)\s+|alignas\([^)]*\)\s+|HONE_\w+\s+)*([\w:]+)(?:\s+final)?(?:\s*:[^:{;()][^{;]*)?\s*\{/g;

/** Returns the classes that have a body, in the order of their heads. */
export function declaredClasses(text: string): Declared[] {
  const code = blankNonCode(text);
  const lineOf = lineCounter(code);
  const found: Declared[] = [];
  for (const match of code.matchAll(HEAD)) {
    const end = matchingBrace(code, match.index + match[0].length - 1);
    const around = found.filter((c) => c.begin < match.index && match.index < c.end).at(-1);
    const name = around === undefined ? match[1]! : `${around.name}::${match[1]}`;
    const line = lineOf(match.index);
    found.push({ name, line, lines: lineOf(end) - line + 1, begin: match.index, end });
  }
  return found;
}

/** Returns the functions defined outside of a class as `Outer::Inner::member(...) {`, with the class that owns each. */
export function outsideMembers(text: string): { readonly owner: string; readonly lines: number }[] {
  const inside = declaredClasses(text);
  return cppFunctions(text).flatMap(({ name, line, lines }) => {
    const owner = /^((?:\w+::)*\w+)::(?:~?\w+|operator\W*\w*)$/.exec(name)?.[1];
    const within = inside.some((c) => c.line < line && line < c.line + c.lines);
    return owner === undefined || within ? [] : [{ owner, lines }];
  });
}

/** Returns the sizes of all classes in `files`. `read` returns a file's text, `includes` the files that it includes. */
export function classSizes(
  files: readonly string[],
  read: (file: string) => string,
  includes: (file: string) => readonly string[] = cppIncludes,
): ClassSize[] {
  const classes = files.flatMap((file) => declaredClasses(read(file)).map((c) => ({ ...c, file })));
  const sizes = new Map(classes.map((c) => [c, c.lines]));
  for (const file of files) {
    // Looks for the class in this file first, then in the files it includes: two files may each define a `Parser`.
    const places = [file, ...includes(file)];
    for (const { owner, lines } of outsideMembers(read(file))) {
      const place = places.find((p) => classes.some((c) => c.file === p && c.name === owner));
      const found = classes.find((c) => c.file === place && c.name === owner);
      if (found !== undefined) sizes.set(found, sizes.get(found)! + lines);
    }
  }
  return classes.map((c) => ({ file: c.file, line: c.line, name: c.name, lines: sizes.get(c)! }));
}
