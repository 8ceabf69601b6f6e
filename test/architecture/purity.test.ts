// Checks properties of the source text that no type expresses.
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript-6";
import { describe, expect, test } from "vitest";
import { filesUnder, parseTs, ROOT, reachOf, read } from "./source-tree.ts";

const lib = filesUnder("lib", [".ts"]);
const typed = ["lib", "recipes", "bench"].flatMap((folder) => filesUnder(folder, [".ts"]));

/** Returns the positions of nodes that `wanted` accepts, as file:line. Parses only files whose text matches `word`. */
function places(file: string, word: RegExp, wanted: (node: ts.Node) => boolean): string[] {
  if (!word.test(read(file))) return [];
  const source = parseTs(file);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (wanted(node))
      found.push(`${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test("a verifier worker never loads the addon, however far around", () => {
  const loaded = reachOf(lib.filter((file) => /^lib\/(?:rewards|domains)\//.test(file)));
  expect(loaded.filter((file) => file.startsWith("lib/native/"))).toEqual([]);
});

test("nothing is typed any", () => {
  const found = typed.flatMap((file) =>
    places(file, /\bany\b/, (node) => node.kind === ts.SyntaxKind.AnyKeyword),
  );
  expect(found).toEqual([]);
});

test("no literal is spread into a literal: its entries stand where they belong", () => {
  const literal = (node: ts.Node): boolean =>
    (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
    (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression));
  expect(typed.flatMap((file) => places(file, /\.\.\.\s*[{[]/, literal))).toEqual([]);
});

test("no function both disposes with `await using` and imports on demand", () => {
  // TypeScript 6.0 has a bug: when it lowers `await using`, it leaves .ts in the path of a dynamic import
  const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
    ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isArrowFunction(node);
  const found = typed.flatMap((file) =>
    places(
      file,
      /await using/,
      (node) => isFunction(node) && /await using/.test(node.getText()) && /\bimport\(/.test(node.getText()),
    ),
  );
  expect(found).toEqual([]);
});

/** Modules that may write to a terminal or end a process. */
const SPEAKING = ["lib/cli/", "lib/report/"];

describe("a library neither speaks nor exits", () => {
  const silent = lib.filter((file) => !SPEAKING.some((module) => file.startsWith(module)));
  const callee = (node: ts.Node) => (ts.isPropertyAccessExpression(node) ? node.getText() : "");

  test("no console outside cli and report", () => {
    expect(
      silent.flatMap((file) => places(file, /\bconsole\b/, (n) => callee(n).startsWith("console."))),
    ).toEqual([]);
  });

  test("no process.exit, no writes to standard output", () => {
    const forbidden = ["process.exit", "process.stdout.write", "process.stderr.write"];
    // Modules that forward what a user's verifier or environment prints.
    const passesOn = [
      "lib/rewards/pool/verifier-dispatcher.ts",
      "lib/rewards/python/python-rewards.ts",
      "lib/episodes/playing-process.ts",
    ];
    const quiet = silent.filter((file) => !passesOn.includes(file));
    expect(
      quiet.flatMap((file) => places(file, /\bprocess\b/, (n) => forbidden.includes(callee(n)))),
    ).toEqual([]);
  });

  test("the native core does not print or exit either", () => {
    // The sandbox's server is a separate process whose output its host reads.
    const isServer = (file: string) => file.startsWith("csrc/sandbox/");
    const files = filesUnder("csrc", [".h", ".cc", ".cu", ".inc"]).filter((file) => !isServer(file));
    const speaking = /\bstd::(?:cout|cerr|clog|abort|exit|_Exit|quick_exit)\b|\b(?:printf|fprintf|puts)\s*\(/;
    const code = (file: string) =>
      read(file)
        .replace(/\/\/[^\n]*/g, "")
        .replace(/"[^"\n]*"/g, '""');
    expect(files.filter((file) => speaking.test(code(file)))).toEqual([]);
  });
});

describe("how a sum over k is cut depends on the weight's shape alone", () => {
  const cuts = filesUnder("csrc", [".h", ".cc", ".cu", ".cuh"]).flatMap((file) =>
    [...read(file).matchAll(/\bfixed_split_k\(([^()]*)\)/g)].map(([, given]) => ({ file, given: given! })),
  );
  const calls = cuts.filter(({ given }) => !/^(?:n|N), (?:k|K)$|^int64_t n, int64_t k$/.test(given));

  test("nobody hands it a number of rows", () => {
    expect(cuts.length).toBeGreaterThan(1);
    expect(calls.map(({ given }) => given)).toEqual(calls.map(() => "p.columns, p.depth"));
  });

  test("nor does it ask for one", () => {
    const page = read("csrc/kernels/cuda/matmul_plan.h");
    const from = page.indexOf("constexpr int fixed_split_k(");
    const body = page.slice(from, page.indexOf("\n}", from)).replace(/\/\/[^\n]*/g, "");
    expect(
      body.match(/\b[a-zA-Z_]\w*\b/g)?.filter((word) => /^(?:m|M|rows|batch|tokens)$/.test(word)),
    ).toEqual([]);
  });
});

describe("the tree", () => {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  })
    .split("\n")
    .filter((file) => file !== "" && file !== "package-lock.json" && existsSync(join(ROOT, file)));

  test("names no path of a machine", () => {
    const folders = ["work", "root", "tmp", "home", "Users"].join("|");
    const path = new RegExp(`(?<![\\w.}])/(?:${folders})/\\w`);
    const found = files.filter((file) => statSync(join(ROOT, file)).size < 1 << 20 && path.test(read(file)));
    expect(found).toEqual([]);
  });

  test("holds no file over a megabyte but the quick start's weights", () => {
    const large = files.filter((file) => statSync(join(ROOT, file)).size > 1 << 20);
    expect(large).toEqual(["recipes/quickstart-start/model.safetensors"]);
  });
});
