/** The repository as the architecture tests see it: its files, their includes and imports, and their functions. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";
import ts from "typescript-6";

export const ROOT = resolve(import.meta.dirname, "../..");

export function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** Returns the files under a folder of the repository that end in one of `endings`, as sorted paths from the root. */
export function filesUnder(folder: string, endings: readonly string[]): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => posix.join(folder, entry.parentPath.slice(join(ROOT, folder).length), entry.name))
    .sort();
}

export const CPP_ENDINGS = [".h", ".cc", ".cu", ".cuh", ".inc"];

/** Returns the repository files that a C++ file includes in quotes. Include paths start at csrc/. */
export function cppIncludes(file: string): string[] {
  const found: string[] = [];
  for (const [, path] of read(file).matchAll(/^[ \t]*#[ \t]*include[ \t]+"([^"]+)"/gm)) {
    const beside = posix.join(posix.dirname(file), path!);
    found.push(existsSync(join(ROOT, beside)) ? beside : posix.join("csrc", path!));
  }
  return found;
}

export interface TsImports {
  /** The repository files that a module loads by import, re-export, dynamic import, import type or worker URL. */
  readonly files: string[];
  /** The names of imported packages, with the "node:" modules. */
  readonly packages: string[];
}

const importsOf = new Map<string, TsImports>();

export function tsImports(file: string): TsImports {
  const found = importsOf.get(file) ?? readImports(file);
  importsOf.set(file, found);
  return found;
}

function readImports(file: string): TsImports {
  const text = read(file);
  const names = ts.preProcessFile(text, true, true).importedFiles.map((f) => f.fileName);
  for (const [, path] of text.matchAll(/new URL\(\s*["'](\.[^"']+)["'],\s*import\.meta\.url/g)) {
    if (/\.[cm]?[jt]s$/.test(path!)) names.push(path!);
  }
  const files = names.filter((n) => n.startsWith(".")).map((n) => posix.join(posix.dirname(file), n));
  const packages = names
    .filter((n) => !n.startsWith("."))
    .map((n) =>
      n.startsWith("@") ? n.split("/").slice(0, 2).join("/") : n.startsWith("node:") ? n : n.split("/")[0]!,
    );
  return { files, packages };
}

/** Returns every repository file that loading `start` loads, dynamic imports included. */
export function reachOf(start: readonly string[]): string[] {
  const seen = new Set(start);
  for (const file of seen) {
    if (!existsSync(join(ROOT, file))) continue;
    for (const next of tsImports(file).files) seen.add(next);
  }
  return [...seen];
}

/** Returns the files that importing `start` loads at once, without dynamic imports and type-only imports. */
export function staticReachOf(start: string): string[] {
  const seen = new Set([start]);
  for (const file of seen) {
    for (const statement of ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest).statements) {
      const isLoad = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
      const path = isLoad && statement.moduleSpecifier;
      if (!path || !ts.isStringLiteral(path) || !path.text.startsWith(".") || onlyTypes(statement)) continue;
      seen.add(posix.join(posix.dirname(file), path.text));
    }
  }
  return [...seen];
}

function onlyTypes(statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly;
  const { importClause: clause } = statement;
  const names = clause?.namedBindings;
  const allTypes = names && ts.isNamedImports(names) && names.elements.every((one) => one.isTypeOnly);
  return clause?.isTypeOnly === true || (clause !== undefined && !clause.name && allTypes === true);
}

/** Returns the files along a cycle among `edges`, or undefined if there is none. */
export function findCycle(edges: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    path.push(file);
    for (const next of edges.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of edges.keys()) {
    const cycle = visit(file);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

export interface FunctionSize {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

export function parseTs(file: string, text = read(file)): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
}

/** Lists every function with a body, nested ones included. Docstrings are not counted. */
export function tsFunctions(source: ts.SourceFile): FunctionSize[] {
  const found: FunctionSize[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const last = source.getLineAndCharacterOfPosition(node.end).line;
      found.push({ name: functionName(node), line: first + 1, lines: last - first + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

export interface ClassSize extends FunctionSize {
  /** The number of parameters of its constructor. */
  readonly parameters: number;
}

export function tsClasses(source: ts.SourceFile): ClassSize[] {
  const found: ClassSize[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const lines = source.getLineAndCharacterOfPosition(node.end).line - first + 1;
      const parameters = node.members.find(ts.isConstructorDeclaration)?.parameters.length ?? 0;
      found.push({ name: node.name?.text ?? "(anonymous)", line: first + 1, lines, parameters });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function functionName(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  const owner = node.parent;
  if (owner !== undefined && ts.isVariableDeclaration(owner)) return owner.name.getText();
  return node.kind === ts.SyntaxKind.Constructor ? "constructor" : "(anonymous)";
}

/**
 * Lists every function body at namespace or class scope of a C++ text by counting braces, after blanking comments,
 * strings and preprocessor lines. A lambda counts towards its enclosing function.
 */
export function cppFunctions(text: string): FunctionSize[] {
  const code = blankNonCode(text);
  const found: FunctionSize[] = [];
  const lineOf = lineCounter(code);
  let headStart = 0;
  for (let i = 0; i < code.length; ++i) {
    const char = code[i];
    if (char === ";" || char === "}") headStart = i + 1;
    if (char !== "{") continue;
    const head = code.slice(headStart, i);
    if (insideParentheses(head) || isMemberInitializer(head)) {
      i = matchingBrace(code, i);
      continue;
    }
    if (!isFunctionHead(head)) {
      if (isInitializer(head)) i = matchingBrace(code, i);
      headStart = i + 1;
      continue;
    }
    const end = matchingBrace(code, i);
    const first = lineOf(headStart + (head.length - head.trimStart().length));
    found.push({ name: headName(head), line: first, lines: lineOf(end) - first + 1 });
    i = end;
    headStart = end + 1;
  }
  return found;
}

export function blankNonCode(text: string): string {
  const blank = (match: string) => match.replace(/[^\n]/g, " ");
  return text
    .replace(
      /R"(\w*)\([\s\S]*?\)\1"|\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'/g,
      blank,
    )
    .replace(/^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm, blank);
}

export function lineCounter(code: string): (offset: number) => number {
  const starts = [0];
  for (let i = 0; i < code.length; ++i) if (code[i] === "\n") starts.push(i + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

export function matchingBrace(code: string, open: number): number {
  let depth = 0;
  for (let i = open; i < code.length; ++i) {
    if (code[i] === "{") depth += 1;
    if (code[i] === "}" && --depth === 0) return i;
  }
  return code.length - 1;
}

/** True for `f(T x = ` before a brace: a default argument. */
function insideParentheses(head: string): boolean {
  return head.split("(").length > head.split(")").length;
}

/** True for `Foo(int x) : a_` before a brace: it initializes a member, and the body follows. */
function isMemberInitializer(head: string): boolean {
  return /\)\s*(?:noexcept\s*)?:[^:]/.test(head) && /[\w>]\s*$/.test(head) && !/\)\s*$/.test(head);
}

function isFunctionHead(head: string): boolean {
  const text = head.trim().replace(/^(?:template\s*<[^{}]*?>\s*(?=[\w:]))+/, "");
  if (/^(?:inline\s+)?(?:namespace|extern|enum|union)\b/.test(text)) return false;
  if (/^(?:class|struct)\b[^()]*$/.test(text)) return false;
  return text.includes("(") && !isInitializer(head);
}

/** True if the brace after `head` starts a value: `= {`, `x{`. */
function isInitializer(head: string): boolean {
  const text = head.trim();
  if (/=\s*$/.test(text)) return true;
  return (
    !text.includes("(") &&
    !/^(?:inline\s+|typedef\s+)?(?:namespace|extern|enum|union|class|struct|template)\b/.test(text) &&
    /[\w>\]]$/.test(text)
  );
}

function headName(head: string): string {
  return (
    /((?:\w+::)*operator\s*(?:\(\)|[^\s(]+)|[~\w:]+)\s*\(/.exec(head.trim())?.[1] ?? head.trim().slice(0, 40)
  );
}
