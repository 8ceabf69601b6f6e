// Every command of a page's shell blocks is executed: by the tests of its page, by those below, or by .ci/run. The
// others are only parsed (commands.test.ts), and a table says why. Deliberate faults (mutants) that these tests
// detect: a new command on a page, an option that is none, a page's file that does not load.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { long, longest } from "../long.ts";
import { commandsOf, filesOf, pages } from "./page-commands.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/** Pages whose commands another file executes, all of them or those that match. */
const BY_OTHERS: Readonly<Record<string, string | readonly [file: string, which: RegExp]>> = {
  "docs/how-to/cluster.md": ["test/docs/run-pages.test.ts", /hone status/],
  "docs/how-to/environments.md": ["test/docs/environments.test.ts", /guess\.mjs/],
  "docs/how-to/simulate.md": ["test/docs/run-pages.test.ts", /--fit runs\/quickstart/],
  "README.md": "test/docs/typed-pages.test.ts",
  "docs/how-to/from-a-program.md": "test/docs/typed-pages.test.ts",
  "docs/how-to/from-trl.md": "test/docs/typed-pages.test.ts",
  "docs/how-to/from-verl.md": "test/docs/typed-pages.test.ts",
  "docs/how-to/push.md": "test/docs/push.test.ts",
  "docs/how-to/rewards.md": "test/docs/rewards.test.ts",
  "docs/how-to/runs.md": "test/docs/run-pages.test.ts",
  "docs/how-to/samples.md": "test/docs/run-pages.test.ts",
  "docs/how-to/traces.md": "test/docs/run-pages.test.ts",
  "docs/how-to/evaluation.md": "test/docs/run-pages.test.ts",
  "docs/reference/models.md": "test/docs/run-pages.test.ts",
  "docs/tutorial/first-model.md": "test/docs/typed-pages.test.ts",
  "docs/how-to/trackers.md": "test/docs/every-command.test.ts",
};

/** Commands that are parsed and not executed, and why. */
const PARSED: readonly (readonly [command: RegExp, why: string])[] = [
  [/hone build --cuda/, "CUDA's compiler"],
  [
    /^npx hone (?:init sums|run recipe\.mjs --set training\.steps=100|agent recipe|data (?:useful|check digits)|sweep recipe\.mjs|track \w+ runs\/sorting|compare results|traces results|bench --device|launch \w+ recipe)/,
    "examples of verbs that test/cli and test/e2e run with other arguments",
  ],
  [/hone verify --domain logic/, "test/scripts/agreement.test.ts judges labelled cases so"],
  [
    /^npm (?:ci|test$|run test|run (?:bench|chaos|ablations))/,
    "takes minutes to hours; .ci/run has what holds for a change",
  ],
  [
    /^npm install|^npm init|^mkdir|^cp /,
    "installs into a folder: scripts/try-arrival.mjs does, from the packed package",
  ],
  [
    /^node scripts\/gpu-pack|^node bench|^python3|bench\/trl|--only trl/,
    "CUDA's compiler, or another trainer in Python",
  ],
  [/^srun |redis:\/\/|^redis-server|npm run chaos/, "Slurm or a Redis server"],
  [
    /--model judge|org\/|model Qwen\/|inspect Qwen|--suite gsm8k/,
    "a server that judges, or a model or set of the Hub",
  ],
  [/hone explain .*--problem 17/, "a problem of one run; test/explain and test/e2e ask for what a run has"],
  [/hone watch|--live/, "serves until it is stopped; test/cli/watch.test.ts and test/live"],
  [/--sweep (?:split|lag|nodes)|simulate .*--fit runs\/one/, "minutes of simulation; test/simulate"],
  [
    /^npx hone eval --model models\/mine --suite aime25/,
    "published benchmarks; run-pages.test.ts with rows of its own",
  ],
];

// What executes is imported on demand: without it the table alone is checked, in a fraction of the time.
const noAddon = long ? (await import("../e2e/native-core.ts")).noAddon : "not asked for";
const SMALL = long ? (await import("../fixtures/small-quickstart.ts")).smallQuickstart(2) : [];
const asWords = (settings: readonly string[]): string[] => settings.flatMap((each) => ["--set", each]);
/** Settings that a recipe with a model and a source of its own takes. */
const FEW = [
  "training.steps=2",
  "training.groupsPerStep=2",
  "rollouts.groupSize=2",
  "advantages.filter=none",
  "evaluation.problemsPerDomain=1",
  "evaluation.attempts=1",
];

interface Typed {
  readonly page: string;
  /** Which of the page's commands; default: all that are not only parsed. */
  readonly which?: RegExp;
  /** Settings that make a run small, added to commands that run. */
  readonly set?: readonly string[];
  /** Makes what the commands find beside the page's files. */
  readonly before?: () => void;
  /** What all output together must contain. */
  readonly says: RegExp;
  /** True for a page that takes minutes: npm run test:long executes it, a landing does not. */
  readonly takesMinutes?: true;
}

const CASE = '{"response": "<think></think>\\\\boxed{4}", "gold": "4"}\n';

const folder = noAddon === undefined && long ? mkdtempSync(join(ROOT, "build", "commands-")) : "";
const at = (...names: string[]) => join(folder, ...names);
const run = (line: string) => {
  const { status, stdout, stderr } = typedAs(line);
  expect(RUN_ENDS, `${line}\n${stdout}\n${stderr}`).toContain(status);
};
/** 4: random weights may give no group whose rewards differ. */
const RUN_ENDS = [0, 4];
/** 3: a plan that does not fit says so. */
const endsOf = (line: string, runs: boolean) => (runs ? RUN_ENDS : line.includes("hone plan") ? [0, 3] : [0]);

/** What each page's commands need, in the order in which they are typed. */
const HERE: readonly Typed[] = [
  {
    page: "docs/how-to/cluster.md",
    which: /launch|plan|simulate|doctor|processes 4/,
    set: [...SMALL, "model.config.heads=2", "model.config.width=64", "training.schedule=async"],
    says: /apriel-15b\.sbatch[\s\S]*4 processes|processes/,
  },
  {
    page: "docs/how-to/curriculum.md",
    set: FEW,
    before: () => run("node rows.mjs > digits.jsonl"),
    says: /in-place/,
  },
  { page: "docs/how-to/distillation.md", set: [...SMALL, "training.steps=2"], says: /models\/teacher/ },
  {
    page: "docs/how-to/environments.md",
    which: /recipes\//,
    set: [...FEW, "warmStart.steps=3"],
    says: /word-guess[\s\S]*calculator/,
  },
  { page: "docs/how-to/install.md", which: /doctor/, says: /sandbox/ },
  { page: "docs/how-to/simulate.md", which: /--set training\.steps=250/, says: /GPU/ },
  {
    page: "docs/how-to/sweeps.md",
    which: /hone sweep/,
    takesMinutes: true,
    set: SMALL,
    says: /lp[\s\S]*dap/,
  },
  { page: "docs/how-to/write-a-verifier.md", set: FEW, says: /reversal/ },
  {
    page: "docs/how-to/write-a-suite.md",
    before: () => run(`npx hone export --run runs/teacher --out models/mine`),
    says: /digits/,
  },
  { page: "docs/how-to/write-a-tracker.md", set: FEW, says: /tracker board/ },
  { page: "docs/how-to/write-a-loss.md", which: /objective\.ts/, set: FEW, says: /objective/ },
  {
    page: "docs/reference/commands.md",
    which:
      /hone (?:verify|status|check|data count|replay|report|runs|diff|rescore|rollouts|samples|convert|export|score|tokenize|doctor|schema|completion|plan)/,
    set: FEW,
    before: () => {
      writeFileSync(at("recipe.mjs"), filesOf("README.md")["recipe.mjs"]!);
      run(commandsOf("README.md").find((line) => line.startsWith("node -e"))!);
      const set = asWords([...FEW, "training.steps=10", "rollouts.record=true", "model.config.width=32"]);
      for (const name of ["sorting", "sorting-2"])
        run(`npx hone run recipe.mjs --dir runs/${name} ${set.join(" ")}`);
      run("[ -d models/mine ] || npx hone export --run runs/sorting --out models/mine");
      writeFileSync(at("cases.jsonl"), CASE);
      writeFileSync(at("ids.jsonl"), '{"ids": [1, 2, 3]}\n');
      writeFileSync(at("texts.jsonl"), '{"text": "0123"}\n');
      writeFileSync(at("hosts"), "a\nb\n");
    },
    says: /sorting/,
  },
  {
    page: "docs/reference/verify.md",
    before: () => writeFileSync(at("cases.jsonl"), CASE),
    says: /1 correct/,
  },
];

/** Runs a command line of a page; `npx hone` is the command of this checkout. */
function typedAs(line: string) {
  const env = { ...process.env, PATH: `${at("bin")}:${process.env["PATH"]}`, HF_HUB_OFFLINE: "1" };
  return spawnSync("bash", ["-eo", "pipefail", "-c", line], { cwd: folder, env, encoding: "utf8" });
}

const whyParsed = (line: string) => PARSED.find(([command]) => command.test(line))?.[1];
const executedHere = ({ page, which = /./ }: Typed) =>
  commandsOf(page).filter((line) => whyParsed(line) === undefined && which.test(line));

test("each command of the pages is executed by a test, or the table says why not", () => {
  const isByOthers = (page: string, line: string) => {
    const by = BY_OTHERS[page];
    return typeof by === "string" || by?.[1].test(line) === true;
  };
  const isTyped = (page: string, line: string) =>
    isByOthers(page, line) || HERE.some((typed) => typed.page === page && executedHere(typed).includes(line));
  const left = pages().flatMap((page) =>
    commandsOf(page)
      .filter((line) => whyParsed(line) === undefined && !isTyped(page, line))
      .map((line) => `${page}: ${line}`),
  );
  expect(left).toEqual([]);
  for (const [page, by] of Object.entries(BY_OTHERS)) {
    const file = [by].flat()[0] as string;
    expect(commandsOf(page), page).not.toEqual([]);
    expect(readFileSync(join(ROOT, file), "utf8"), file).toContain(page.replace(/^docs\//, ""));
  }
  const all = pages().flatMap(commandsOf);
  for (const [command] of PARSED)
    expect(
      all.some((line) => command.test(line)),
      `${command}`,
    ).toBe(true);
});

beforeAll(() => {
  if (folder === "") return;
  mkdirSync(at("bin"));
  const words = [process.execPath, ...HONE].map((part) => `'${part}'`).join(" ");
  writeFileSync(at("bin/npx"), `#!/bin/sh\nshift\nexec ${words} "$@"\n`);
  writeFileSync(
    at("bin/npm"),
    `#!/bin/sh\nshift 3 # run quickstart --\nexec '${process.execPath}' '${join(ROOT, "dist/recipes/quickstart.js")}' "$@"\n`,
  );
  for (const name of ["npx", "npm"]) chmodSync(at("bin", name), 0o755);
  symlinkSync(join(ROOT, "recipes"), at("recipes"));
});
afterAll(() => {
  if (folder !== "") rmSync(folder, { recursive: true });
});

const executed = HERE.filter(({ takesMinutes }) => longest || takesMinutes !== true);
test.skipIf(folder === "").each(executed)("$page: its commands do what it says", (typed) => {
  const { page, set = [], before, says } = typed;
  for (const [name, text] of Object.entries(filesOf(page)))
    if (!name.includes("/")) writeFileSync(at(name), text);
  before?.();
  const lines = executedHere(typed);
  expect(lines).not.toEqual([]);
  const texts = lines.map((line) => {
    const runs = /hone (?:run|sweep) |npm run quickstart/.test(line) && !/--list/.test(line);
    const words = runs ? asWords(set).map((word) => `'${word}'`) : [];
    const isNamed = /hone sweep|--dir/.test(line);
    const again = !runs || isNamed ? [] : line.startsWith("npm") ? ["--dir", "runs/own"] : ["--overwrite"];
    const { status, stdout, stderr } = typedAs([line, ...words, ...again].join(" "));
    expect(endsOf(line, runs), `${line}\n${stdout}\n${stderr}`).toContain(status);
    return `${line}\n${stdout}${stderr}`;
  });
  expect(texts.join("\n")).toMatch(says);
});

test.skipIf(folder === "")("trackers.md: what waits is listed and sent", () => {
  for (const name of ["train.ts", "runs/mine"]) rmSync(at(name), { recursive: true, force: true });
  const [send, list] = commandsOf("docs/how-to/trackers.md");
  const recipe = filesOf("README.md")["recipe.mjs"]!;
  const tracked = 'defineRecipe({ trackers: [{ kind: "jsonl", path: "sent.jsonl" }],';
  writeFileSync(at("train.ts"), recipe.replace("defineRecipe({", tracked));
  run(`npx hone run train.ts --dir runs/mine ${asWords(FEW).join(" ")}`);
  for (const line of [send!, list!]) run(line);
  expect(existsSync(at("sent.jsonl"))).toBe(true);
});
