import { z } from "zod";
import type { ConfigIssue } from "../errors.ts";
import { nearest } from "./nearest.ts";
import { recipeSchema } from "./schema.ts";

/** JSON Schema (draft 2020-12) of a recipe, for editors; includes `$schema`, with which a JSON file names its schema. */
export function recipeJsonSchema(): unknown {
  const { properties, ...schema } = z.toJSONSchema(recipeSchema, { io: "input" });
  return { ...schema, properties: { $schema: { type: "string" }, ...properties } };
}

/** Issues of the union's alternative that the value probably meant: the one that matches its type and fields. */
function unfold(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const isOf = (issues: readonly z.core.$ZodIssue[], code: string) =>
    issues.some((inner) => inner.code === code && inner.path.length === 0);
  const ofItsType = issue.errors.filter((issues) => !isOf(issues, "invalid_type"));
  const meant = ofItsType.find((issues) => !isOf(issues, "unrecognized_keys")) ?? ofItsType[0];
  if (meant === undefined) return [issue];
  return meant.flatMap((inner) => unfold({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Describes every issue of a recipe in words, with the nearest known name. @param input the value that the schema refused */
export function issuesOf(error: z.ZodError, input: unknown): ConfigIssue[] {
  return error.issues.flatMap(unfold).flatMap((issue) => translate(issue, input));
}

function translate(issue: z.core.$ZodIssue, input: unknown): ConfigIssue[] {
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(issue.path);
    return issue.keys.map((key) => unknownField([...issue.path, key].join("."), key, known));
  }
  const value = valueAt(input, issue.path);
  if (value === undefined) return [{ path, message: `is required${requirement(issue)}` }];
  const message = `is ${show(value)}; ${ruleText(issue)}`;
  const known =
    issue.code === "invalid_value" ? issue.values : "options" in issue ? issue.options : undefined;
  if (known === undefined || typeof value !== "string") return [{ path, message }];
  const meant = MEANT[path]?.[value];
  return meant === undefined
    ? [withSuggestion({ path, message }, value, known.map(String))]
    : [{ path, message, suggestion: meant }];
}

function unknownField(path: string, key: string, known: readonly string[]): ConfigIssue {
  const message = "is not a field of a recipe";
  const meant = FOREIGN[key];
  if (meant !== undefined && !known.includes(meant)) return { path, message, suggestion: meant };
  const near = withSuggestion({ path, message }, key, known);
  const elsewhere =
    near.suggestion === undefined ? sectionsWith(key, path.split(".")[0]!).slice(0, MOST_SECTIONS) : [];
  return elsewhere.length === 0 ? near : { ...near, suggestion: elsewhere.join(" or ") };
}

const MOST_SECTIONS = 3;

/** Paths of the fields with this name, such as optimizer.lr for "lr", in the order of the schema. */
function sectionsWith(key: string, section: string): string[] {
  if (knownKeys([]).includes(key)) return [`${key}, outside ${section}`];
  return knownKeys([]).flatMap((section) =>
    knownKeys([section]).includes(key) ? [`${section}.${key}`] : [],
  );
}

/** Describes the value that a missing field needs: the values to choose from, its type, or the fields that a section requires. */
function requirement(issue: z.core.$ZodIssue): string {
  const form = FORMS[issue.path.join(".")];
  if (form !== undefined) return `: ${form}`;
  if (issue.code === "invalid_value") return `: ${choice(issue.values)}`;
  const fields = nodesAt(issue.path).flatMap(({ required = [] }) => required);
  if (fields.length > 0) return `, with ${[...new Set(fields)].join(", ")}`;
  if (issue.code !== "invalid_type") return "";
  return `: ${typeText(issue.expected)}`;
}

/** Descriptions of sections whose field names alone do not explain their form. */
const FORMS: Readonly<Record<string, string>> = {
  model:
    '{ folder: "<folder, or org/name of the Hub>" }, or { config: { width, layers, heads, mlpWidth } } for a new one',
  domains: "{ <name>: { weight: 1, source: ... } }",
};

/** Describes the rule that a value breaks, with the allowed values or type. */
function ruleText(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_value") return `expected ${choice(issue.values)}`;
  if (issue.code === "invalid_union" && "options" in issue && Array.isArray(issue.options))
    return `expected ${choice(issue.options)}`;
  if (issue.code === "too_small" && issue.origin !== "string")
    return `it must be ${issue.inclusive ? "at least" : "above"} ${issue.minimum}${unitOf(issue.origin)}`;
  if (issue.code === "too_big" && issue.origin !== "string")
    return `it must be ${issue.inclusive ? "at most" : "below"} ${issue.maximum}${unitOf(issue.origin)}`;
  if (issue.code === "invalid_type")
    return `expected ${FORMS[issue.path.join(".")] ?? typeText(issue.expected)}, but it is ${typeText(kindOf(issue.input))}`;
  const rule = issue.message.replace(/^(?:Invalid input|Too small|Too big): /, "");
  return `${rule.charAt(0).toLowerCase()}${rule.slice(1)}`;
}

const unitOf = (origin: string): string => (origin === "array" ? " long" : "");

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const choice = (values: readonly unknown[]): string =>
  `${values.length > 1 ? "one of " : ""}${values.map((value) => JSON.stringify(value)).join(", ")}`;

const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a string",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};
const typeText = (type: string): string => TYPES[type] ?? type;

/**
 * By field, unknown values and the known value that each probably means: values of earlier versions (CHANGELOG.md),
 * and other trainers' names.
 */
const MEANT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "advantages.divideBy": { group: "sample-std", batch: "batch-std" },
  "advantages.filter": { raw: "score", shaped: "reward" },
  device: { gpu: "cuda", nvidia: "cuda", "cuda:0": "cuda" },
  "objective.kind": {
    ppo: "ppo-clip",
    drgrpo: "dr-grpo",
    dr_grpo: "dr-grpo",
    gspo_token: "gspo-token",
    sequence: "gspo",
    sequence_token: "gspo-token",
    luspo: "gspo",
    bnpo: "dapo",
    rloo: "ppo-clip",
    geo_mean: "gmpo",
  },
};

/** Fields under the names that other trainers (TRL, verl) give them. */
const FOREIGN: Readonly<Record<string, string>> = {
  adam_beta1: "optimizer.beta1",
  adam_beta2: "optimizer.beta2",
  adam_epsilon: "optimizer.eps",
  beta: "objective.klCoef",
  bf16: "model.weightStorage",
  chat_template_kwargs: "chatTemplate.variables",
  clip_ratio: "objective.clipLow",
  clip_ratio_c: "objective.dualClip",
  clip_ratio_high: "objective.clipHigh",
  clip_ratio_low: "objective.clipLow",
  dataset: "domains.<name>.source",
  dataset_name: "domains.<name>.source",
  delta: "objective.dualClip",
  dtype: "model.weightStorage",
  entropy_coef: "objective.entropyCoef",
  entropy_target: "objective.entropyControl.target",
  epsilon: "objective.clipLow",
  epsilon_high: "objective.clipHigh",
  eval_steps: "evaluation.everySteps",
  gradient_accumulation_steps: "training.groupsPerStep",
  importance_sampling_level: "objective.kind",
  kl_loss_coef: "objective.klCoef",
  learning_rate: "optimizer.lr",
  lora_alpha: "lora.alpha",
  lora_r: "lora.rank",
  lora_rank: "lora.rank",
  lora_target_modules: "lora.targets",
  loss_type: "objective.kind",
  lr_scheduler_type: "optimizer.schedule",
  mask_truncated_completions: "advantages.overlong",
  max_completion_length: "rollouts.maxOutputTokens",
  max_grad_norm: "optimizer.gradientClip",
  max_prompt_length: "rollouts.maxPromptTokens",
  max_response_length: "rollouts.maxOutputTokens",
  max_steps: "training.steps",
  min_p: "rollouts.minP",
  model_name_or_path: "model.folder",
  off_policy_mask_threshold: "objective.offPolicyMask",
  num_generations: "rollouts.groupSize",
  num_iterations: "training.epochs",
  num_train_epochs: "training.steps",
  peft_config: "lora",
  per_device_train_batch_size: "training.groupsPerStep",
  ref_model_sync_steps: "objective.referenceEverySteps",
  report_to: "trackers",
  reward_funcs: "domains.<name>.reward",
  reward_weights: "domains.<name>.rewards",
  router_aux_loss_coef: "objective.router.balanceCoef",
  save_steps: "checkpoint.everySteps",
  save_total_limit: "checkpoint.keepLast",
  scale_rewards: "advantages.divideBy",
  steps: "training.steps",
  steps_per_generation: "training.updatesPerBatch",
  target_modules: "lora.targets",
  teacher_model_name_or_path: "teacher.folder",
  temperature: "rollouts.temperature",
  top_entropy_quantile: "objective.tokens.fraction",
  top_k: "rollouts.topK",
  top_p: "rollouts.topP",
  torch_dtype: "model.weightStorage",
  total_epochs: "training.steps",
  train_batch_size: "training.groupsPerStep",
  use_bias_correction_kl: "objective.klEstimator",
  use_peft: "lora",
  warmup_ratio: "optimizer.warmupSteps",
  warmup_steps: "optimizer.warmupSteps",
  weight_decay: "optimizer.weightDecay",
};

function withSuggestion(issue: ConfigIssue, name: string, known: readonly string[]): ConfigIssue {
  const suggestion = nearest(name, known);
  return suggestion === undefined ? issue : { ...issue, suggestion };
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly required?: readonly string[];
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
}

/** Cached: overrides look it up at every step of a path. */
let schemaOfRecipes: SchemaNode | undefined;

/** Field names the schema knows at a path. */
export function knownKeys(path: readonly PropertyKey[]): string[] {
  return [...new Set(nodesAt(path).flatMap((node) => Object.keys(node.properties ?? {})))];
}

/** Alternatives that the schema has at a path. */
function nodesAt(path: readonly PropertyKey[]): SchemaNode[] {
  schemaOfRecipes ??= recipeJsonSchema() as SchemaNode;
  let nodes = alternatives(schemaOfRecipes);
  for (const key of path) {
    nodes = nodes.flatMap((node) => {
      const anyKey = typeof node.additionalProperties === "object" ? node.additionalProperties : node.items;
      const next = node.properties?.[String(key)] ?? anyKey;
      return next === undefined ? [] : alternatives(next);
    });
  }
  return nodes;
}

function alternatives(node: SchemaNode): SchemaNode[] {
  return [node, ...[...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap(alternatives)];
}

/** A copy of the input without the fields that have issues, so that the remaining rules can be checked too. */
export function withoutIssues(input: unknown, error: z.ZodError): unknown {
  const copy = structuredClone(input);
  for (const issue of error.issues.flatMap(unfold)) {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : issue.path.slice(-1);
    const parent = valueAt(copy, issue.code === "unrecognized_keys" ? issue.path : issue.path.slice(0, -1));
    if (typeof parent !== "object" || parent === null) continue;
    for (const key of keys) delete (parent as Record<PropertyKey, unknown>)[key];
  }
  return copy;
}
