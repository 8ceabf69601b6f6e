import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { defineRecipe } from "../config/index.ts";
import { VERIFIERS } from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import { isModulePlace, pythonPlace } from "../user-module.ts";
import { type InitLengths, lookAtModel } from "./init-model.ts";
import { type InitReward, type InitRows, lookAtRows } from "./init-rows.ts";

export interface InitAnswers {
  /** A folder, or org/name of the Hub. */
  readonly model: string;
  /** A file, a folder, or hf:org/name. */
  readonly data: string;
  /** A verifier, rewards.py#name or ./mine.ts#name; default: the verifier that reads the rows' answers. */
  readonly reward?: string | undefined;
}

/** Throws HONE_ERR_USAGE if the file exists, or if its name does not end as a recipe's does. */
export function expectNew(file: string): void {
  if (!/\.(?:[cm]?ts|[cm]?js|ya?ml|json)$/.test(file))
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${file}: hone init writes a recipe into a file that ends in .ts, .mjs, .yaml or .json`,
    );
  if (existsSync(file)) throw taken(file);
}

const taken = (file: string): HoneError =>
  new HoneError("HONE_ERR_USAGE", `${file} exists, and hone init overwrites no file`, {
    hint: `Give another name: npx hone init other${extname(file)}`,
  });

/**
 * Examines the rows and the model, and writes a recipe for them. Returns its findings and the commands to run next.
 * Throws HONE_ERR_USAGE, HONE_ERR_DATA, HONE_ERR_IO, HONE_ERR_HUB, and then writes nothing.
 */
export async function writeRecipe(file: string, answers: InitAnswers): Promise<string> {
  expectNew(file);
  const reward = answers.reward === undefined ? undefined : rewardOf(answers.reward);
  const rows = await lookAtRows(answers.data, reward);
  const lengths = await lookAtModel(answers.model, rows.kept);
  const fields = fieldsOf(file, answers.model, { rows, reward, lengths });
  defineRecipe(fields as unknown as Parameters<typeof defineRecipe>[0], file);
  try {
    writeFileSync(file, textFor(file)(fields), { flag: "wx" });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST" ? taken(file) : error;
  }
  const judge = reward === undefined || "verifier" in reward ? `the verifier ${rows.domain}` : answers.reward;
  return [
    `rows   ${rows.kept.length} of the first ${rows.looked} can be used, from ${rows.columns.join(" and ") || "their fields"}; judged by ${judge}`,
    ...rows.unused.map((text) => `       ${text}`),
    ...(rows.isAskedFor
      ? [
          "       no question asks for \\boxed{}, where the verifier looks for the answer: source.template does",
        ]
      : []),
    `model  ${lengths.said}`,
    `wrote  ${file}`,
    "",
    `npx hone check ${file}`,
    `npx hone run ${file}`,
  ].join("\n");
}

/** Throws HONE_ERR_USAGE if the text names neither a verifier nor a function in an existing file. */
export function rewardOf(text: string): InitReward {
  if (VERIFIERS.some(({ name }) => name === text)) return { verifier: text };
  const [file = ""] = text.split("#", 1);
  const isPython = file.endsWith(".py");
  if (!isPython && !/\.[cm]?[jt]s$/.test(file))
    throw new HoneError(
      "HONE_ERR_USAGE",
      `--reward ${text}: neither a verifier nor a file of Python or JavaScript`,
      {
        hint: `Verifiers: ${VERIFIERS.map(({ name }) => name).join(", ")}. Functions: rewards.py#name, ./mine.ts#name.`,
      },
    );
  if (!existsSync(file)) throw new HoneError("HONE_ERR_USAGE", `--reward ${text}: there is no ${file} here`);
  if (isPython) return { python: withName(text) };
  return { module: isModulePlace(text) ? text : `./${text}` };
}

/** Appends the name of the file's only reward function, if the text names none. */
function withName(text: string): string {
  const { file, name } = pythonPlace(text);
  if (name !== "") return text;
  const names = rewardsIn(readFileSync(file, "utf8"));
  if (names.includes("reward") || names.includes("compute_score")) return text;
  if (names.length === 1) return `${text}#${names[0]}`;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `--reward ${text}: which of its functions? ${names.join(", ") || "It has none."}`,
    {
      hint: `Name it after #: --reward ${text}#${names[0] ?? "reward"}`,
    },
  );
}

/**
 * Names of a Python file's functions that take a reward parameter of TRL or verl; of all functions if none
 * does.
 */
function rewardsIn(python: string): string[] {
  const functions = [...python.matchAll(/^(?:async )?def (\w+)\s*\(([^)]*)/gm)];
  const rewards = functions.filter(([, , parameters]) =>
    /\b(?:completions|completion_ids|prompts|solution_strs?)\b/.test(parameters!),
  );
  return (rewards.length > 0 ? rewards : functions).map(([, name]) => name!);
}

type Fields = Readonly<Record<string, Readonly<Record<string, unknown>> | string>>;

interface Found {
  readonly rows: InitRows;
  readonly reward: InitReward | undefined;
  readonly lengths: InitLengths;
}

function fieldsOf(file: string, model: string, { rows, reward, lengths }: Found): Fields {
  const own = reward === undefined || "verifier" in reward ? {} : { reward: ownReward(reward) };
  const { maxOutputTokens, maxPromptTokens, lr } = lengths;
  return {
    name: basename(file, extname(file)),
    model: { folder: model },
    domains: { [rows.domain]: { source: rows.source, ...own } },
    rollouts: { maxOutputTokens, maxPromptTokens },
    ...(lr !== undefined && { optimizer: { lr } }),
    training: { steps: 40 },
  };
}

const ownReward = (reward: Exclude<InitReward, { verifier: string }>) =>
  "python" in reward ? { python: reward.python } : reward.module;

/** Writes a value in JavaScript syntax, which is also single-line YAML: { folder: "m" }. */
function flow(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, one]) => `${nameOf(key)}: ${flow(one)}`);
  return `{ ${pairs.join(", ")} }`;
}

const nameOf = (key: string): string => (/^[a-z]\w*$/i.test(key) ? key : JSON.stringify(key));

const scriptText = (fields: Fields): string =>
  [
    'import { defineRecipe } from "hone-rl";',
    "",
    "export default defineRecipe({",
    ...Object.entries(fields).map(([key, value]) => `  ${key}: ${flow(value)},`),
    "});",
    "",
  ].join("\n");

/** Where editors find the schema of recipes. */
const SCHEMA = "./node_modules/hone-rl/recipes/recipe.schema.json";

const jsonText = (fields: Fields): string => {
  const lines = Object.entries({ $schema: SCHEMA, ...fields }).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return `{\n${lines.join(",\n")}\n}\n`;
};

const yamlText = (fields: Fields): string =>
  [
    `# yaml-language-server: $schema=${SCHEMA}`,
    ...Object.entries(fields).map(([key, value]) => `${key}: ${flow(value)}`),
    "",
  ].join("\n");

const textFor = (file: string): ((fields: Fields) => string) =>
  file.endsWith(".json") ? jsonText : /ya?ml$/.test(file) ? yamlText : scriptText;
