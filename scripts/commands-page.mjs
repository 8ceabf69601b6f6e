// node scripts/commands-page.mjs [--check] writes docs/reference/commands.md from the command tree and the examples
// below. --check only compares, and exits with 1 if the page differs.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { tsImport } from "tsx/esm/api";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = "docs/reference/commands.md";

/** One example for each command without further commands, by the words of the command. */
export const EXAMPLES = {
  init: "hone init sums.ts --model Qwen/Qwen3-0.6B --data train.jsonl --reward rewards.py#accuracy",
  run: "hone run recipe.mjs --set training.steps=100",
  watch: "hone watch runs/sorting",
  status: "hone status runs/sorting",
  check: "hone check recipe.mjs --resolved",
  plan: "hone plan Qwen/Qwen3-4B --gpu-memory 80GiB",
  simulate: "hone simulate recipes/apriel-15b.ts --sweep split --out split.html",
  "launch slurm": "hone launch slurm recipe.mjs --nodes 4 --time 12:00:00 --partition gpu",
  "launch kubernetes": "hone launch kubernetes recipe.mjs --nodes 4 --image registry/hone:1 --claim runs",
  "launch mpirun": "hone launch mpirun recipe.mjs --nodes 2 --hostfile hosts",
  agent: "hone agent recipe.mjs --dry-run",
  "data check": "hone data check digits.jsonl --kind jsonl",
  "data count": "hone data count recipe.mjs",
  "data useful": "hone data useful results/before --group 8",
  sweep: "hone sweep recipe.mjs --grid optimizer.lr=1e-3,2e-3 --seeds 3 --parallel 2",
  replay: "hone replay runs/sorting",
  report: "hone report runs/sorting",
  runs: "hone runs runs",
  diff: "hone diff runs/sorting runs/sorting-2",
  "track send": "hone track send runs/sorting",
  "track list": "hone track list runs/sorting",
  eval: "hone eval --model runs/sorting --suite gsm8k,math500 --out results/sorting",
  compare: "hone compare results/before results/after",
  traces: "hone traces results/before results/after",
  verify: "hone verify --domain math --file cases.jsonl",
  rescore: "hone rescore runs/sorting --recipe recipe.mjs",
  rollouts: "hone rollouts runs/sorting --step 3",
  samples: "hone samples runs/sorting --step 10 --verdict wrong --show",
  explain: "hone explain runs/sorting --step 3 --problem 17 --attempt 0",
  generate: 'hone generate --model Qwen/Qwen3-0.6B --prompt "What is 17 + 25?"',
  inspect: "hone inspect Qwen/Qwen3-0.6B",
  convert: "hone convert models/mine models/mine-bf16 --dtype bf16",
  export: "hone export --run runs/sorting --out models/sorting",
  push: "hone push models/sorting org/sorting --private",
  score: "hone score --model models/mine --file ids.jsonl",
  tokenize: "hone tokenize --model models/mine --file texts.jsonl",
  doctor: "hone doctor",
  build: "hone build --cuda",
  bench: "hone bench --device cpu --shape tiny",
  schema: "hone schema",
  completion: "hone completion bash",
};

/** The commands that have no further commands, each with the words that lead to it: "data check". */
export function leaves(command, before = []) {
  return command.commands.flatMap((one) => {
    const words = [...before, one.name()];
    return one.commands.length > 0 ? leaves(one, words) : [{ words: words.join(" "), command: one }];
  });
}

/** Writes text as a cell of a Markdown table; names of pages become links. */
const cell = (text) =>
  text
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll(/docs\/([\w/-]+)\.md/g, (_, page) => {
      const from = path.posix.relative("reference", `${page}.md`);
      return `[${path.posix.basename(page)}](${from})`;
    });

const anchor = (words) => `hone-${words.replaceAll(" ", "-")}`;
const flagsOf = ({ flags }) => `\`${flags.replaceAll("|", "\\|")}\``;
const valuesOf = ({ argChoices, defaultValue, mandatory }) => {
  if (mandatory) return " Required.";
  const values = argChoices ? ` One of ${argChoices.map((one) => `\`${one}\``).join(", ")}.` : "";
  const plain = typeof defaultValue === "string" || typeof defaultValue === "number";
  return plain ? `${values} Default: \`${defaultValue}\`.` : values;
};

function section({ words, command }) {
  const options = command.options.filter(({ hidden }) => !hidden);
  const rows = options.map((one) => `| ${flagsOf(one)} | ${cell(one.description)}${cell(valuesOf(one))} |`);
  const table = rows.length === 0 ? [] : ["", "| option | meaning |", "|---|---|", ...rows];
  return [
    `## hone ${words}`,
    "",
    `\`hone ${words} ${command.usage()}\`: ${cell(command.description())}`,
    "",
    "```sh",
    `npx ${EXAMPLES[words]}`,
    "```",
    ...table,
  ].join("\n");
}

/** Writes the page of a command tree. */
export function commandsPage(hone) {
  const all = leaves(hone);
  const index = all.map(
    ({ words, command }) => `| [\`hone ${words}\`](#${anchor(words)}) | ${cell(command.description())} |`,
  );
  return `# Commands

Written by \`node scripts/commands-page.mjs\` from the commands themselves; \`npx hone <command> --help\` prints the same. Exit codes: [errors](errors.md). Wherever a command takes a recipe, \`--set path=value\` overrides one field.

| command | does |
|---|---|
${index.join("\n")}

${all.map(section).join("\n\n")}
`;
}

async function main() {
  const { program } = await tsImport("../lib/cli/program.ts", import.meta.url);
  const page = commandsPage(program());
  const file = path.join(root, PAGE);
  if (!process.argv.includes("--check")) return writeFileSync(file, page);
  if (readFileSync(file, "utf8") === page) return;
  console.error(`${PAGE} is not what scripts/commands-page.mjs writes: run it, and commit the page`);
  process.exitCode = 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
