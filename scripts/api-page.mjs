// node scripts/api-page.mjs [--check] writes docs/reference/api.md: everything that the package exports, with its
// comments. --check only compares; both exit with 1 if an export has no comment.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript-6";

const root = fileURLToPath(new URL("../", import.meta.url));
export const API_PAGE = `${root}docs/reference/api.md`;
const ENTRIES = [
  ["hone-rl", "lib/index.ts"],
  ["hone-rl/verifiers", "lib/verifiers/index.ts"],
  ["hone-rl/chat-template", "lib/text/chat-template.ts"],
];
const HEAD = `# API

What a program imports from the package, from the source's own comments: \`node scripts/api-page.mjs\` writes this page, and a test fails where it is not up to date or an export has no comment. How-tos with whole programs: [run from a program](../how-to/from-a-program.md), [verifiers](../how-to/verifiers.md), [chat templates](../how-to/chat-template.md), [write a tracker](../how-to/write-a-tracker.md).
`;

/** Returns the page, and the exports that have no comment: "name (file)". @param entries [name, file] of entry points */
export function readApi(entries = ENTRIES) {
  const options = { ...readOptions(), declaration: true, emitDeclarationOnly: true, noCheck: true };
  const program = ts.createProgram(
    entries.map(([, file]) => root + file),
    options,
    cachingHost(options),
  );
  const declarations = new Map();
  const undocumented = [];
  const sections = entries.map(([name, file]) => {
    const parts = exportsOf(program, root + file).map(([exported, symbol]) => {
      const [first] = symbol.declarations;
      const place = first.getSourceFile().fileName;
      if (symbol.getDocumentationComment(program.getTypeChecker()).length === 0)
        undocumented.push(`${exported} (${place.slice(root.length)})`);
      if (!declarations.has(place)) declarations.set(place, declaredIn(program, place));
      const texts = declarations.get(place).get(symbol.name) ?? [first.getText()];
      const renamed = exported === symbol.name ? "" : `, declared as ${symbol.name}`;
      return `### ${name}: ${exported}${renamed}\n\n\`\`\`ts\n${texts.join("\n")}\n\`\`\`\n`;
    });
    return `## ${name}\n\n${parts.join("\n")}`;
  });
  return { page: [HEAD, ...sections].join("\n"), undocumented };
}

/** The sources read, which programs with the same options share: those of Node's types and of the language are most. */
const sources = new Map();

function cachingHost(options) {
  const host = ts.createCompilerHost(options, true);
  const read = host.getSourceFile;
  host.getSourceFile = (file, ...rest) => {
    if (!sources.has(file)) sources.set(file, read(file, ...rest));
    return sources.get(file);
  };
  return host;
}

function readOptions() {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  return ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root).options;
}

/** Returns everything that a module exports, as [name, symbol], sorted by name. */
function exportsOf(program, file) {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(file));
  return checker
    .getExportsOfModule(module)
    .map((one) => [one.name, one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns a source file's declarations by name, with their comments, as a program that imports them sees them. */
function declaredIn(program, file) {
  let text = "";
  const write = (_, emitted) => {
    text = emitted;
  };
  program.emit(program.getSourceFile(file), write, undefined, true);
  const found = new Map();
  for (const statement of ts.createSourceFile("a.d.ts", text, ts.ScriptTarget.Latest, true).statements) {
    const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    for (const { name } of declared) {
      if (name === undefined) continue;
      const shown = statement
        .getFullText()
        .replace(/^[\s\S]*?(?=\/\*\*|export)/, "")
        .replace(/^ *#private;\n/gm, "")
        .trim();
      found.set(name.text, [...(found.get(name.text) ?? []), shown]);
    }
  }
  return found;
}

function main() {
  const { page, undocumented } = readApi();
  const isCheck = process.argv.includes("--check");
  if (undocumented.length > 0) return fail(`exports without a comment: ${undocumented.join(", ")}`);
  if (!isCheck) return writeFileSync(API_PAGE, page);
  if (readFileSync(API_PAGE, "utf8") !== page)
    fail("docs/reference/api.md is not what scripts/api-page.mjs writes: run it, and commit the page");
}

function fail(why) {
  console.error(why);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
