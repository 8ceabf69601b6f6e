import { readFileSync } from "node:fs";
import { extname } from "node:path";
import type { Alias, Document, LineCounter, Node, Pair, ParsedNode, Scalar, YAMLMap } from "yaml";
import { ConfigError, type ConfigIssue } from "../errors.ts";

type Yaml = typeof import("yaml");

/** A recipe written in YAML or JSON: its values, and the line and column of each. */
export interface DataRecipe {
  readonly value: unknown;
  /** The issues of the recipe, each with line and column of its value. */
  readonly located: (issues: readonly ConfigIssue[]) => ConfigIssue[];
}

/** True if a file's name is that of a recipe in YAML or JSON. */
export const isDataRecipe = (name: string): boolean => /\.(?:ya?ml|json)$/.test(name);

/**
 * Reads a recipe in YAML 1.2 or JSON. A `$schema` at the top, which editors read, is left out.
 * Throws ConfigError with every place that does not parse or that two readers would read differently.
 */
export async function readDataRecipe(file: string): Promise<DataRecipe> {
  const yaml = await import("yaml");
  const text = readFileSync(file, "utf8");
  const isJson = extname(file) === ".json";
  const strict = isJson ? parsedJson(text, file) : undefined;
  const lines = new yaml.LineCounter();
  const doc = yaml.parseDocument(text, {
    lineCounter: lines,
    merge: !isJson,
    strict: true,
    logLevel: "error",
  });
  const faults = isJson
    ? syntaxFaults(doc, ["DUPLICATE_KEY"])
    : [...syntaxFaults(doc), ...traps(yaml, doc, lines)];
  if (faults.length > 0) throw new ConfigError(file, faults);
  const read = isJson ? strict : plain(doc, file);
  const places = new Places(yaml, doc, lines);
  const value = withoutSchema(read);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ConfigError(file, [
      { path: "", message: "is not a recipe; a recipe has fields: name, model, domains, …" },
    ]);
  return { value, located: (issues) => issues.map((issue) => places.of(issue)) };
}

/** Parses JSON, which YAML includes; a second parse finds lines and columns for messages. */
function parsedJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const { message } = error as SyntaxError;
    const before = text.slice(0, Number(/ position (\d+)/.exec(message)?.[1] ?? text.length)).split("\n");
    const issue = {
      path: "",
      message: `is not JSON: ${message.replace(/ in JSON at position.*/s, "")}; comments and trailing commas are YAML's`,
      at: `line ${before.length}, column ${before.at(-1)!.length + 1}`,
    };
    throw new ConfigError(file, [issue]);
  }
}

function withoutSchema(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("$schema" in value)) return value;
  const { $schema, ...rest } = value;
  return typeof $schema === "string" ? rest : value;
}

const FUNCTIONS =
  'a recipe in YAML or JSON can contain data only; put the function into a module and name it: "./mine.ts#name", or { python: "mine.py#name" }';

/** What to do about syntax errors for which the YAML parser's own message does not say it. */
const REMEDIES: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent YAML with spaces",
  DUPLICATE_KEY: "give the key once",
  MULTIPLE_DOCS: "a recipe file must contain one document",
  TAG_RESOLVE_FAILED: FUNCTIONS,
};

/** Syntax errors, and tags that YAML's core schema does not define. @param codes the codes to report; default: all */
function syntaxFaults(doc: Document.Parsed, codes?: readonly string[]): ConfigIssue[] {
  return [...doc.errors, ...doc.warnings]
    .filter(({ code }) => codes?.includes(code) ?? true)
    .map(({ code, message, linePos }) => {
      const [first] = message.split(/ at line \d+|\n/);
      const remedy = REMEDIES[code];
      const [start] = linePos ?? [];
      return {
        path: "",
        message: remedy === undefined ? first! : `${first}: ${remedy}`,
        at: start && `line ${start.line}, column ${start.col}`,
      };
    });
}

/** Values whose meaning in YAML 1.2 differs from that in YAML 1.1 or in JavaScript. */
function traps({ isScalar, visit }: Yaml, doc: Document.Parsed, lines: LineCounter): ConfigIssue[] {
  const found: ConfigIssue[] = [];
  const add = (node: { range?: readonly number[] | null | undefined }, message: string) =>
    found.push({ path: "", message, at: placeOf(node, lines) });
  if (doc.directives.yaml.explicit && doc.directives.yaml.version !== "1.2")
    found.push({
      path: "",
      message: `is in YAML ${doc.directives.yaml.version}; recipes are read as YAML 1.2`,
      at: "line 1, column 1",
    });
  visit(doc, {
    Pair(_, { key }) {
      if (!isScalar(key)) add(key as Node, "is a key that is not a text; recipes have only names as keys");
      else if (
        typeof key.value !== "string" &&
        typeof key.value !== "symbol" &&
        String(key.value) !== key.source
      )
        add(
          key as Node,
          `has the key ${key.source || "(nothing)"}, which YAML reads as ${String(key.value)}; put it in quotes`,
        );
    },
    Scalar(_, scalar) {
      const fault = numberFault(scalar);
      if (fault !== undefined) add(scalar as Node, fault);
    },
  });
  return found;
}

function numberFault({ value, source, type }: Scalar): string | undefined {
  if (type !== "PLAIN" || typeof value !== "number" || source === undefined) return undefined;
  const digits = /^[-+]?0+(\d+)$/.exec(source)?.[1];
  if (digits !== undefined && value !== 0)
    return `has ${source}, which is ${value} in YAML 1.2 and ${Number.parseInt(digits, 8)} in YAML 1.1; write ${value}, or "${source}" for a text`;
  const isWhole = /^[-+]?\d+$/.test(source);
  return isWhole && !Number.isSafeInteger(value)
    ? `has ${source}, which JavaScript rounds to ${value}; the largest whole number is ${Number.MAX_SAFE_INTEGER}`
    : undefined;
}

function plain(doc: Document.Parsed, file: string): unknown {
  try {
    return ownCopy(doc.toJS(), 0);
  } catch (error) {
    throw new ConfigError(file, [{ path: "", message: (error as Error).message }]);
  }
}

/** Deeper than any recipe. A value that refers to itself exceeds this depth and is refused. */
const DEEPEST = 64;

/** Copies a value so that no two places share an object, as a YAML anchor makes them do: `--set` must change only one of them. */
function ownCopy(value: unknown, depth: number): unknown {
  if (depth > DEEPEST || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => ownCopy(one, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, ownCopy(one, depth + 1)]));
}

function placeOf(
  { range }: { range?: readonly number[] | null | undefined },
  lines: LineCounter,
): string | undefined {
  if (!range) return undefined;
  const { line, col } = lines.linePos(range[0]!);
  return `line ${line}, column ${col}`;
}

const WORDS: Readonly<Record<string, string>> = { yes: "true", on: "true", no: "false", off: "false" };

/** Finds the values of a document by the paths of issues. */
class Places {
  readonly #yaml: Yaml;
  readonly #doc: Document.Parsed;
  readonly #lines: LineCounter;

  constructor(yaml: Yaml, doc: Document.Parsed, lines: LineCounter) {
    this.#yaml = yaml;
    this.#doc = doc;
    this.#lines = lines;
  }

  of(issue: ConfigIssue): ConfigIssue {
    const { node, value } = this.#find(this.#doc.contents, issue.path);
    const at = node && placeOf(node, this.#lines);
    return { ...issue, ...said(issue, value), ...(at !== undefined && { at }) };
  }

  /**
   * The node at a path: a scalar's value, the key of a section, or, where the text ends before the path does, the
   * last key found.
   */
  #find(from: ParsedNode | null | undefined, path: string, name?: Node): Found {
    const node = this.#followed(from);
    if (path === "" && this.#yaml.isScalar(node)) return { node, value: node.value };
    if (path === "" || node === undefined) return { node: name };
    const next = this.#inMap(node, path) ?? this.#inList(node, path);
    return next === undefined ? { node: name } : this.#find(next.node, next.rest, next.name ?? name);
  }

  #inMap(node: Node, path: string): Step | undefined {
    if (!this.#yaml.isMap(node)) return undefined;
    const pairs = (node as YAMLMap<Scalar, ParsedNode>).items;
    const fits = ({ key }: Pair<Scalar, ParsedNode>) =>
      path === keyOf(key) || path.startsWith(`${keyOf(key)}.`);
    const [best] = pairs.filter(fits).sort((a, b) => keyOf(b.key).length - keyOf(a.key).length);
    if (best !== undefined)
      return { node: best.value, rest: path.slice(keyOf(best.key).length + 1), name: best.key };
    const merged = pairs.find(({ key }) => keyOf(key) === "<<");
    const base = merged && this.#followed(merged.value);
    return base && this.#inMap(base, path);
  }

  #inList(node: Node, path: string): Step | undefined {
    if (!this.#yaml.isSeq(node)) return undefined;
    const [index, ...rest] = path.split(".");
    const item = node.items[Number(index)] as ParsedNode | undefined;
    return item && { node: item, rest: rest.join("."), name: item };
  }

  #followed(node: ParsedNode | null | undefined): Node | undefined {
    if (!this.#yaml.isAlias(node)) return node ?? undefined;
    return (node as Alias).resolve(this.#doc);
  }
}

interface Found {
  readonly node: Node | undefined;
  readonly value?: unknown;
}

interface Step {
  readonly node: ParsedNode | null;
  readonly rest: string;
  readonly name: Node;
}

/** Text of a pair's key; "<<" for a YAML merge. */
function keyOf(key: Scalar): string {
  return typeof key.value === "symbol" ? (key.value.description ?? "") : String(key.value);
}

/** Rewords an issue for data files: a function cannot be in one, and "yes" is a text. */
function said({ message }: ConfigIssue, value: unknown): Partial<ConfigIssue> {
  if (typeof value !== "string") return {};
  const word = WORDS[value.toLowerCase()];
  if (word !== undefined && message.includes("true or false")) return { suggestion: word };
  const isCode = /=>|^\s*(?:async\s+)?function\b|^\s*(?:lambda|def)\b/.test(value);
  if (isCode) return { message: `is the text of a function; ${FUNCTIONS}` };
  return {};
}
