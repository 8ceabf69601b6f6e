import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import {
  defineRecipe,
  type ModelSizes,
  type Recipe,
  type RecipeInput,
  recipeInput,
} from "../config/index.ts";
import { type DatasetSpec, parseDatasetSpec, writeSampleRows } from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import { isHubPath, parseHubName, writeStandIn } from "../inference/index.ts";
import { createRun, type RunOptions } from "../orchestration/index.ts";
import type { StepRecord, Verdict } from "../records.ts";
import { knownModel } from "./model-name.ts";

/** Bytes of text assumed per token, if a byte tokenizer replaces the real one. */
const BYTES_PER_TOKEN = 8;
const OUTPUT_TOKENS = 16;
const GROUP_SIZE = 4;

type Source = RecipeInput["domains"][string]["source"];

/** A variant of the recipe that runs on this machine now, and the parts of the real one that are missing. */
export interface Rehearsal extends AsyncDisposable {
  /** The recipe with its own prompts and data, and stand-ins for missing parts. */
  readonly recipe: Recipe;
  /** `recipe` with a two-layer model, few rows and one step. */
  readonly small: Recipe;
  /** Missing parts and their replacements, by use: "model", or the name of a domain or validation set. */
  readonly missing: ReadonlyMap<string, string>;
  /** Missing parts that a run cannot obtain: all except a model on the Hub, which a run downloads. */
  readonly required: ReadonlySet<string>;
  /** True if the model's own tokenizer makes tokens and prompts. */
  readonly hasTokenizer: boolean;
}

/**
 * Prepares a folder of replacements that is removed with the result: a two-layer model of the recipe's architecture,
 * and sample rows for the data sets. Throws HONE_ERR_IO for a model of unknown sizes, HONE_ERR_DATA for a missing
 * data set without sample rows.
 */
export async function rehearse(recipe: Recipe): Promise<Rehearsal> {
  const folder = mkdtempSync(join(tmpdir(), "hone-check-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const missing = new Map<string, string>();
    const { model, here: placed, hasTokenizer } = await standInModel(recipe, folder, missing);
    const { domains, few, sets } = await standInData(recipe, folder, missing);
    const { hardware: _, warmStart: __, ...input } = recipeInput(recipe);
    for (const made of [domains, few]) withRewards(made, input.domains);
    withRewards(sets, input.evaluation?.sets ?? {});
    const { stopIds: ___, ...rollouts } = input.rollouts;
    const maxPromptTokens = recipe.rollouts.maxPromptTokens * (hasTokenizer ? 1 : BYTES_PER_TOKEN);
    const asked = { ...(hasTokenizer ? input.rollouts : rollouts), maxPromptTokens };
    const here = { ...input, model: placed ?? input.model, rollouts: asked };
    const evaluation = { ...input.evaluation, sets };
    const downloads = isOnHub(recipe.model.folder);
    return {
      missing,
      hasTokenizer,
      required: new Set([...missing.keys()].filter((what) => what !== "model" || !downloads)),
      recipe: defineRecipe(
        { ...here, domains, evaluation: hasTokenizer ? evaluation : withoutBudgets(evaluation) },
        recipe.name,
      ),
      small: defineRecipe(smallInput({ ...here, model, domains: few }, asked), recipe.name),
      [Symbol.asyncDispose]: async () => remove(),
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** True for a name on the Hub. A folder that exists on this machine takes precedence over a Hub name of the same spelling. */
const isOnHub = (folder: string | undefined): boolean =>
  folder !== undefined && !existsSync(folder) && parseHubName(folder) !== undefined;

interface StandIn {
  /** Two layers of the architecture, with random weights. */
  readonly model: RecipeInput["model"];
  /** Local model folder that replaces the recipe's model when its prompts are tried. */
  readonly here?: RecipeInput["model"];
  readonly hasTokenizer: boolean;
}

/** Two layers, or as many as a hybrid model needs to have one with attention. */
const fewLayers = (sizes: ModelSizes) => ({ ...sizes, layers: Math.max(2, sizes.attentionEvery ?? 0) });

/** A model folder with two layers; for a new model only its sizes change. No weights are downloaded. */
async function standInModel(recipe: Recipe, folder: string, missing: Map<string, string>): Promise<StandIn> {
  const { model } = recipe;
  const { weightStorage, arithmetic } = model;
  const types = { ...(weightStorage && { weightStorage }), ...(arithmetic && { arithmetic }) };
  if (model.folder === undefined)
    return { model: { config: fewLayers(model.config), ...types }, hasTokenizer: true };
  const found = await knownModel(model.folder);
  const path = join(folder, "model");
  await writeStandIn(path, found.config, found.tokenizer);
  const small = { folder: path, ...types };
  const hasTokenizer = found.tokenizer !== undefined;
  // use the folder's path: with the Hub name the Hub would be asked, and could send the weights of a newer commit
  if (found.folder !== undefined)
    return { model: small, here: { ...recipeInput(recipe).model, folder: found.folder }, hasTokenizer };
  const instead = hasTokenizer
    ? `the weights of ${model.folder} are not on this machine; random weights are used instead`
    : `${model.folder} is not on this machine; its published sizes, random weights and a tokenizer of bytes are used instead`;
  missing.set("model", instead);
  return { model: small, here: small, hasTokenizer };
}

/**
 * The source of every domain, or sample rows where its files are missing; `few` has few rows for every
 * domain.
 */
async function standInData({ domains, evaluation }: Recipe, folder: string, missing: Map<string, string>) {
  const whole: RecipeInput["domains"] = {};
  const few: RecipeInput["domains"] = {};
  for (const [domain, { weight, source, verifier }] of Object.entries(domains)) {
    const judged = verifier === undefined ? {} : { verifier };
    const { here, sampled, instead } = await standInSource(`domains.${domain}`, source, folder);
    if (instead !== undefined) missing.set(domain, instead);
    whole[domain] = { weight, source: here, ...judged };
    few[domain] = { weight: 1, source: sampled, ...judged };
  }
  const sets: NonNullable<RecipeInput["evaluation"]>["sets"] = {};
  for (const [name, set] of Object.entries(evaluation.sets)) {
    const { here, instead } = await standInSource(`evaluation.sets.${name}`, set.source, folder);
    if (instead !== undefined) missing.set(name, instead);
    sets[name] = { ...set, source: here };
  }
  return { domains: whole, few, sets };
}

/**
 * The source of a domain, or sample rows if the source's files are missing; reports the substitution through
 * `instead`. Throws HONE_ERR_DATA if there are no samples.
 */
async function standInSource(field: string, source: Recipe["domains"][string]["source"], folder: string) {
  const spec = typeof source === "string" ? parseDatasetSpec(source) : source;
  const samples = spec && (await writeSampleRows(spec.kind, folder));
  const absent = [spec?.path ?? []].flat().filter((path) => !isHubPath(path) && !existsSync(path));
  if (absent.length > 0 && samples === undefined) {
    throw new HoneError("HONE_ERR_DATA", `${field}.source: there is no data at ${absent.join(", ")}`);
  }
  const sampled: Source =
    samples === undefined ? beginningOf(source, spec, folder) : sampleSource(spec!, samples);
  if (absent.length === 0) return { here: source, sampled };
  return {
    here: sampled,
    sampled,
    instead: `${absent.join(", ")} is not on this machine; sample rows in the same shape are used instead`,
  };
}

/**
 * Gives domains, or validation sets, the rewards and environments that the recipe's author wrote, including
 * functions.
 */
function withRewards<T extends Judged>(made: Record<string, T>, written: Record<string, Judged>): void {
  for (const [name, one] of Object.entries(made)) {
    const { reward, rewards, environment, episode } = written[name] ?? {};
    const rewarded = { ...(reward && { reward }), ...(rewards && { rewards }) };
    const played = { ...(environment && { environment }), ...(episode && { episode }) };
    made[name] = { ...one, ...rewarded, ...played };
  }
}

type Judged = Pick<RecipeInput["domains"][string], "reward" | "rewards" | "environment" | "episode">;

/** Token budgets are meaningless without the model's tokenizer. */
function withoutBudgets({ sets = {}, maxTokens: _, ...evaluation }: NonNullable<RecipeInput["evaluation"]>) {
  const bare = Object.entries(sets).map(([name, { maxTokens: __, ...set }]) => [name, set] as const);
  return { ...evaluation, sets: Object.fromEntries(bare) };
}

/** A source of the given kind with the recipe's template, without options that select rows. */
function sampleSource({ kind, template }: DatasetSpec, path: string): Source {
  return { kind, path, ...(template !== undefined && { template }) } as Source;
}

/**
 * Bytes of a large file that the step of the small recipe reads; the check read the whole file before that
 * step.
 */
const BEGINNING_BYTES = 1 << 20;

/**
 * A source over the first rows of a JSONL file; the source itself if the file is no larger, is compressed, or is one
 * of several.
 */
function beginningOf(
  source: Recipe["domains"][string]["source"],
  spec: DatasetSpec | undefined,
  folder: string,
): Source {
  const path = spec === undefined ? source : spec.path;
  if (typeof path !== "string" || !/\.(?:jsonl|ndjson)$/i.test(path) || !existsSync(path)) return source;
  if (statSync(path).size <= BEGINNING_BYTES) return source;
  const lines = Buffer.alloc(BEGINNING_BYTES);
  const fd = openSync(path, "r");
  const end = lines.lastIndexOf("\n", readSync(fd, lines));
  closeSync(fd);
  if (end < 0) return source;
  const beginning = join(mkdtempSync(join(folder, "rows-")), basename(path));
  writeFileSync(beginning, lines.subarray(0, end + 1));
  if (spec === undefined) return beginning;
  const { heldOut: _, ...rest } = spec;
  return { ...rest, path: beginning } as Source;
}

function smallInput({ teacher: _, ...input }: RecipeInput, rollouts: RecipeInput["rollouts"]): RecipeInput {
  const maxOutputTokens = Math.min(OUTPUT_TOKENS, rollouts.maxOutputTokens);
  const context = rollouts.maxPromptTokens + maxOutputTokens;
  const penalty = input.lengthPenalty;
  return {
    ...input,
    device: "cpu",
    rollouts: { ...rollouts, groupSize: GROUP_SIZE, maxOutputTokens },
    ...(penalty && {
      lengthPenalty: {
        ...penalty,
        bufferTokens: Math.min(maxOutputTokens, penalty.bufferTokens ?? maxOutputTokens),
      },
    }),
    // random weights fail every problem: without a filter there is something to train on
    advantages: { ...input.advantages, filter: "none" },
    evaluation: {},
    training: {
      steps: 1,
      groupsPerStep: Object.keys(input.domains).length,
      schedule: "sync",
      packedTokens: Math.min(context, 4096),
    },
    engine: { maxRunning: GROUP_SIZE * 2, stepTokens: 256 },
    checkpoint: { everySteps: 0, keepLast: 1 },
    sinks: [],
  };
}

/**
 * True if only environments score the answers. An environment may give answers of random weights the same score in
 * every episode.
 */
const isPlayed = ({ domains }: Recipe): boolean =>
  Object.values(domains).every(({ environment }) => environment !== undefined);

/**
 * Runs one step of the small recipe: generation, verdicts, advantages, loss, gradient, update, publication. Random
 * weights are always wrong, which would make all advantages and the gradient 0. So every second answer counts as
 * right; if all answers are right, every other one counts as half right. Throws HONE_ERR_VERIFIER for an answer that
 * cannot be judged, HONE_ERR_NON_FINITE for a gradient that is not finite.
 */
export async function rehearseStep(small: Recipe, verifiers: Verifiers): Promise<StepRecord> {
  const dir = mkdtempSync(join(tmpdir(), "hone-step-"));
  try {
    await using run = await createRun(small, { dir, verifiers: everySecondRight(verifiers) });
    for await (const record of run) {
      const norm = record.metrics["grad/norm"] ?? Number.NaN;
      if ((norm > 0 || isPlayed(small)) && Number.isFinite(norm)) return record;
      throw new HoneError("HONE_ERR_NON_FINITE", `the gradient of the dry run's step has norm ${norm}`);
    }
    await run.finished;
    throw new HoneError("HONE_ERR_INTERNAL", "the dry run ended without a step");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const RIGHT: Verdict = { status: "correct", score: 1, reason: "counted as right in the dry run" };

/**
 * Halves a full score, since a dry run needs groups with unequal scores and a custom reward may accept every output
 * of random weights.
 */
const belowFull = (verdict: Verdict): Verdict =>
  verdict.status !== "unscored" && verdict.score >= 1
    ? { status: "partial", score: 0.5, reason: "counted as half right in the dry run" }
    : verdict;

type Verifiers = NonNullable<RunOptions["verifiers"]>;

function everySecondRight(verifiers: Verifiers): Verifiers {
  let judged = 0;
  return {
    stats: () => verifiers.stats(),
    verify: async (cases, ...rest) => {
      const verdicts = await verifiers.verify(cases, ...rest);
      const unscored = verdicts.find((verdict) => verdict.status === "unscored" && !verdict.notApplicable);
      if (unscored?.status === "unscored")
        throw new HoneError("HONE_ERR_VERIFIER", `an answer cannot be judged: ${unscored.cause}`);
      return verdicts.map((verdict) => (judged++ % 2 === 0 ? RIGHT : belowFull(verdict)));
    },
  };
}
