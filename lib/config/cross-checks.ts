import { EPISODE_SOURCES } from "../domains/index.ts";
import type { ConfigIssue } from "../errors.ts";
import { whyNotMultiplied } from "./arithmetic.ts";
import { hasExpert } from "./environment.ts";
import { evaluates } from "./evaluation.ts";
import { weightsOf, whyNotBiased, whyNotChosen, whyNotHybrid } from "./model-sizes.ts";
import { OBJECTIVE_CHECKS } from "./objective.ts";
import { whyNotBuffered } from "./replay-buffer.ts";
import { rewardsFault } from "./reward.ts";
import { processCount, rolesOf } from "./roles.ts";
import { evaluationContext, MOST_PAGES, maxContext, type Recipe } from "./schema.ts";
import { whyNotBaseline, whyNotBestOf, whyNotCombined } from "./shaping.ts";
import { whyNotBalanced, whyNotTogether } from "./sharding.ts";
import { whyNotFull, whyNotOne, whyNotServed, whyNotTaught } from "./teacher.ts";

const INT32 = 2 ** 31 - 1;
/** Upper bound of sizes, so that no product of them overflows in the core's byte counts. */
const CORE_SIZE = 2 ** 44;
const MOST_DOMAINS = 64; // bits of a problem's id: see lib/data/problem-id.ts
const MOST_DEMONSTRATIONS = 2 ** 24;

/** Why a recipe's gradients cannot be divided among ranks. */
function whyNotGradients({ lora, warmStart, metrics, hardware }: Recipe): string | undefined {
  const is = `is "${hardware?.sharding?.stage}"`;
  if (lora !== undefined)
    return `${is}, but a run with lora has too few of them to divide; choose "optimizer"`;
  if (warmStart?.optimizer === "muon")
    return `${is}, but the warm start's Muon updates whole matrices; choose "optimizer", or warmStart.optimizer "adamw"`;
  if (metrics.gradients.everySteps > 0)
    return `${is}, but metrics.gradients.everySteps compares them whole; choose "optimizer", or 0`;
  return undefined;
}

interface CrossCheck {
  /** Fields that the rule reads; the issue is reported at the first. */
  readonly paths: readonly string[];
  /**
   * Checks a recipe against one rule: returns a description of the violation, with the values found and the remedy;
   * undefined if the recipe obeys the rule.
   */
  readonly rule: (recipe: Recipe) => string | undefined;
}

/** Rules between fields; add a new rule as a row here. */
const CROSS_CHECKS: readonly CrossCheck[] = [
  ...OBJECTIVE_CHECKS,
  {
    paths: ["training.updatesPerBatch", "training.groupsPerStep"],
    rule: ({ training: t }) =>
      t.updatesPerBatch > t.groupsPerStep
        ? `is ${t.updatesPerBatch}, above training.groupsPerStep ${t.groupsPerStep}; an update is on one group at least`
        : undefined,
  },
  {
    paths: ["objective.slopes", "hardware.processes"],
    rule: (recipe) => {
      const { slopes } = recipe.objective;
      const { trainers = 0 } = rolesOf(recipe) ?? {};
      return slopes !== undefined && "function" in slopes && trainers > 0
        ? `is the function ${slopes.function}, but a function cannot be sent to the ${trainers} training processes of this recipe; export it from a module and give its place, "./loss.ts#${slopes.function}", or let the run's own process train: hardware.processes: { actors, trainers: 0 }`
        : undefined;
    },
  },
  {
    paths: ["lengthPenalty.bufferTokens", "rollouts.maxOutputTokens"],
    rule: ({ lengthPenalty: p, rollouts: r }) =>
      p.bufferTokens !== undefined && p.bufferTokens > r.maxOutputTokens
        ? `is ${p.bufferTokens}, above rollouts.maxOutputTokens ${r.maxOutputTokens}; the buffer is the end of the output budget, so it cannot be longer`
        : undefined,
  },
  {
    paths: ["lengthPenalty.bufferTokens", "lengthPenalty.kind"],
    rule: ({ lengthPenalty: p }) =>
      p.kind !== "none" && p.bufferTokens === undefined
        ? `is required with kind "${p.kind}": the tokens at the end of the budget over which the penalty grows; without a penalty say kind: "none"`
        : undefined,
  },
  {
    paths: ["training.credits", "training.groupsPerStep"],
    rule: ({ training: t }) =>
      t.credits < t.groupsPerStep
        ? `is ${t.credits}, below training.groupsPerStep ${t.groupsPerStep}; a step could never fill`
        : undefined,
  },
  {
    paths: ["training.credits", "training.groupsPerStep", "training.maxLag"],
    rule: ({ training: t }) => {
      const most = t.groupsPerStep * (t.maxLag + 1);
      return t.credits > most
        ? `is ${t.credits}, above groupsPerStep * (maxLag + 1) = ${most}; groups would have to be older than maxLag ${t.maxLag} when trained`
        : undefined;
    },
  },
  {
    paths: ["evaluation.everySteps", "evaluation.problemsPerDomain"],
    rule: (recipe) =>
      recipe.evaluation.everySteps > 0 && !evaluates(recipe)
        ? `is ${recipe.evaluation.everySteps}, but evaluation.problemsPerDomain is 0 and there are no evaluation.sets: nothing would be asked`
        : undefined,
  },
  {
    paths: ["checkpoint.keepBest", "evaluation.everySteps"],
    rule: ({ checkpoint: { keepBest }, evaluation: { everySteps } }) =>
      keepBest > 0 && everySteps === 0
        ? `is ${keepBest}, but no checkpoint is evaluated during training; set evaluation.everySteps`
        : undefined,
  },
  {
    paths: ["domains"],
    rule: ({ domains }) =>
      Object.keys(domains).length === 0
        ? "is empty; name at least one domain"
        : Object.keys(domains).length > MOST_DOMAINS
          ? `names ${Object.keys(domains).length} domains; at most ${MOST_DOMAINS} are supported`
          : undefined,
  },
  {
    paths: ["domains"],
    rule: ({ domains }) =>
      Object.values(domains).some(({ weight }) => weight > 0) || Object.keys(domains).length === 0
        ? undefined
        : "gives every domain weight 0; at least one domain must be trained on",
  },
  {
    paths: ["domains", "evaluation.sets"],
    rule: ({ domains, evaluation: { sets } }) => rewardsFault({ ...sets, ...domains }),
  },
  {
    paths: ["domains", "evaluation.sets"],
    rule: ({ domains, evaluation: { sets } }) => {
      for (const [name, { source, environment, episode, reward, rewards, verifier }] of [
        ...Object.entries(domains),
        ...Object.entries(sets),
      ]) {
        if (environment === undefined && typeof source === "string" && Object.hasOwn(EPISODE_SOURCES, source))
          return `has ${name} with source ${source}, which only an environment can judge; say environment: "${source.slice("procedural/".length)}"`;
        if (environment === undefined && episode !== undefined)
          return `gives ${name} limits of an episode, but the domain has no environment`;
        if (environment === undefined) continue;
        const other = { reward, rewards, verifier };
        const second = Object.entries(other).find(([, judge]) => judge !== undefined);
        if (second)
          return `gives ${name} both environment and ${second[0]}; an environment scores its episodes`;
      }
      return undefined;
    },
  },
  {
    paths: ["warmStart.mixture", "domains"],
    rule: ({ warmStart, domains }) => {
      const unknown = Object.keys(warmStart?.mixture ?? {}).find((d) => !Object.hasOwn(domains, d));
      return unknown === undefined ? undefined : `names ${unknown}, which is no domain of this recipe`;
    },
  },
  {
    paths: ["warmStart.mixture", "domains"],
    rule: ({ warmStart, domains }) => {
      const mute = Object.keys(warmStart?.mixture ?? {}).find((name) => {
        const environment = domains[name]?.environment;
        return environment !== undefined && !hasExpert(environment);
      });
      return mute && `names ${mute}, whose environment has no expert to play its demonstrations`;
    },
  },
  {
    paths: ["warmStart.wrongRate", "warmStart.endlessRate"],
    rule: ({ warmStart: w }) =>
      w !== undefined && w.wrongRate + w.endlessRate > 1
        ? `is ${w.wrongRate}; its sum with endlessRate ${w.endlessRate} is more than 1`
        : undefined,
  },
  {
    paths: ["model"],
    rule: ({ model }) => {
      if ((model.folder === undefined) !== (model.config === undefined)) return undefined;
      const found = model.folder === undefined ? "neither folder nor config" : "both folder and config";
      return `has ${found}; give folder to continue from a published model, or config for a new one`;
    },
  },
  {
    paths: ["tokenizer", "model"],
    rule: ({ tokenizer, model }) =>
      tokenizer === "model" && model.folder === undefined
        ? 'is "model", but a new model has no tokenizer of its own; give model.folder or "lexicon/quickstart"'
        : undefined,
  },
  {
    paths: ["chatTemplate", "tokenizer"],
    rule: ({ chatTemplate, tokenizer }) =>
      chatTemplate !== undefined && tokenizer !== "model"
        ? `is given, but prompts with the tokenizer ${tokenizer} are the bare question, without a template; leave it out`
        : undefined,
  },
  {
    paths: ["chatTemplate.plain", "chatTemplate.file", "chatTemplate.variables"],
    rule: ({ chatTemplate: c }) =>
      c?.plain && (c.file !== undefined || c.variables !== undefined)
        ? "is true, so prompts have no template: give neither a template file nor variables"
        : undefined,
  },
  {
    paths: ["model.config.maxPositions", "rollouts.maxPromptTokens", "rollouts.maxOutputTokens"],
    rule: ({ model: { config: c }, rollouts }) =>
      c && maxContext({ rollouts }) > c.maxPositions
        ? `is ${c.maxPositions}, below maxPromptTokens + maxOutputTokens = ${maxContext({ rollouts })}`
        : undefined,
  },
  {
    paths: ["evaluation.maxTokens", "evaluation.sets", "model.config.maxPositions", "rollouts"],
    rule: ({ model: { config: c }, ...recipe }) =>
      c && evaluationContext(recipe) > Math.max(c.maxPositions, maxContext(recipe))
        ? `makes contexts of ${evaluationContext(recipe)} tokens with rollouts.maxPromptTokens; model.config.maxPositions is ${c.maxPositions}`
        : undefined,
  },
  {
    paths: ["evaluation.maxTokens", "evaluation.sets", "engine", "rollouts"],
    rule: ({ engine: e, ...recipe }) =>
      e.pages * e.pageTokens < evaluationContext(recipe) && e.pages * e.pageTokens >= maxContext(recipe)
        ? `makes contexts of ${evaluationContext(recipe)} tokens with rollouts.maxPromptTokens; engine.pages is ${e.pages} of ${e.pageTokens} tokens`
        : undefined,
  },
  {
    paths: ["evaluation.sets", "domains"],
    rule: ({ evaluation: { sets }, domains }) => {
      const taken = Object.keys(sets).find((name) => name === "mean" || Object.hasOwn(domains, name));
      return taken === undefined
        ? undefined
        : `names a set ${taken}, as ${taken === "mean" ? "the mean" : "a domain"} is called; the held-out problems of every domain are evaluated anyway`;
    },
  },
  {
    paths: ["model.config.heads", "model.config.width", "model.config.headDim"],
    rule: ({ model: { config: c } }) =>
      c && !Number.isInteger(c.headDim)
        ? `is ${c.heads}, which does not divide width ${c.width}; set headDim`
        : undefined,
  },
  {
    paths: ["model.config.headDim", "model.config.width", "model.config.heads"],
    rule: ({ model: { config: c } }) =>
      c && c.headDim % 2 === 1
        ? `is ${c.headDim}; rotary embedding turns pairs, so it must be even`
        : undefined,
  },
  {
    paths: ["model.config"],
    rule: ({ model: { config: c } }) => {
      if (c === undefined) return undefined;
      const [weights, angles] = [weightsOf(c), c.maxPositions * c.headDim];
      return weights >= CORE_SIZE || angles >= CORE_SIZE
        ? `makes ${weights.toPrecision(3)} weights and ${angles.toPrecision(3)} rotary angles; neither may reach 2^44`
        : undefined;
    },
  },
  {
    paths: ["training.groupsPerStep", "rollouts"],
    rule: ({ training: t, rollouts }) => {
      const groups = Math.ceil(t.groupsPerStep / (1 - (t.replayBuffer?.share ?? 0)));
      const most = groups * rollouts.groupSize * maxContext({ rollouts });
      return most > INT32
        ? `is ${t.groupsPerStep}; with groupSize ${rollouts.groupSize} and contexts of ${maxContext({ rollouts })} a step may have ${most} tokens, above ${INT32}`
        : undefined;
    },
  },
  {
    paths: ["warmStart.steps", "warmStart.batchSize"],
    rule: ({ warmStart: w }) =>
      w && w.steps * w.batchSize > MOST_DEMONSTRATIONS
        ? `is ${w.steps}; times batchSize ${w.batchSize} this is more than the ${MOST_DEMONSTRATIONS} demonstrations that are supported`
        : undefined,
  },
  {
    paths: ["model.config.kvHeads", "model.config.heads"],
    rule: ({ model: { config: c } }) =>
      c && c.heads % c.kvHeads !== 0 ? `is ${c.kvHeads}, which does not divide heads ${c.heads}` : undefined,
  },
  { paths: ["model.config.experts.chosen", "model.config.experts.count"], rule: whyNotChosen },
  {
    paths: [
      "model.config.attentionEvery",
      "model.config.layers",
      "model.config.headDim",
      "model.config.heads",
    ],
    rule: whyNotHybrid,
  },
  {
    paths: ["model.config.qkvBias", "model.config.attentionEvery", "model.config.experts"],
    rule: whyNotBiased,
  },
  {
    paths: ["model.adapter", "lora", "model.folder"],
    rule: ({ model, lora }) =>
      model.adapter !== undefined && (lora === undefined || model.folder === undefined)
        ? `is given, but ${lora === undefined ? "the recipe has no lora, which these adapters need" : "a new model has no adapters; give model.folder"}`
        : undefined,
  },
  {
    paths: ["warmStart.optimizer", "lora", "model.folder"],
    rule: ({ warmStart, lora, model }) =>
      lora !== undefined && model.folder !== undefined && warmStart?.optimizer === "muon"
        ? 'is "muon", but a warm start of a published model trains the adapters, which only AdamW does; set "adamw"'
        : undefined,
  },
  {
    paths: ["hardware.actorGpus", "hardware.gpus"],
    rule: ({ hardware: h }) =>
      h?.actorGpus !== undefined && h.actorGpus >= h.gpus
        ? `is ${h.actorGpus} of ${h.gpus} GPUs; at least one has to train`
        : undefined,
  },
  {
    paths: ["training.replayBuffer", "rollouts.record", "checkpoint.everySteps"],
    rule: whyNotBuffered,
  },
  { paths: ["objective.kind", "teacher"], rule: whyNotTaught },
  { paths: ["teacher"], rule: whyNotOne },
  { paths: ["teacher.endpoint", "teacher.divergence", "rollouts.temperature"], rule: whyNotServed },
  { paths: ["objective.klEstimator", "teacher.divergence"], rule: whyNotFull },
  { paths: ["advantages.passAt", "rollouts.groupSize"], rule: whyNotBestOf },
  { paths: ["advantages.baseline", "advantages.divideBy", "advantages.passAt"], rule: whyNotBaseline },
  { paths: ["advantages.combine", "advantages.passAt", "reward.table", "domains"], rule: whyNotCombined },
  {
    paths: ["model.arithmetic", "model.weightStorage", "device"],
    rule: whyNotMultiplied,
  },
  {
    paths: ["hardware.nodes", "hardware.processes", "hardware.actorGpus", "hardware.gpus", "device"],
    rule: (recipe) => {
      const { nodes = 1 } = recipe.hardware ?? {};
      if (nodes === 1) return undefined;
      const roles = rolesOf(recipe);
      if (roles === undefined)
        return `is ${nodes}, but hardware gives neither processes nor actorGpus: it must say which nodes sample and which train`;
      const all = processCount(roles);
      return all < nodes
        ? `is ${nodes}, more than its ${all} processes: a node would have nothing to do`
        : undefined;
    },
  },
  {
    paths: ["hardware.sharding.stage", "lora", "warmStart.optimizer", "metrics.gradients.everySteps"],
    rule: (recipe) => {
      const stage = recipe.hardware?.sharding?.stage ?? "optimizer";
      return stage === "optimizer" ? undefined : whyNotGradients(recipe);
    },
  },
  {
    paths: [
      "hardware.sharding.sequence",
      "hardware.processes",
      "hardware.actorGpus",
      "hardware.gpus",
      "device",
      "model.config",
    ],
    rule: whyNotTogether,
  },
  { paths: ["objective.router", "hardware.sharding.sequence"], rule: whyNotBalanced },
  {
    paths: ["engine.pages", "engine.maxRunning", "engine.pageTokens", "rollouts"],
    rule: ({ engine: e }) =>
      e.pages > MOST_PAGES
        ? `is ${e.pages}, above ${MOST_PAGES}: enough for maxRunning ${e.maxRunning} whole contexts is too many; give fewer`
        : undefined,
  },
  {
    paths: ["engine.pages", "engine.pageTokens", "rollouts.maxPromptTokens", "rollouts.maxOutputTokens"],
    rule: ({ engine: { pages, pageTokens }, rollouts }) =>
      pages * pageTokens < maxContext({ rollouts })
        ? `is ${pages} pages of ${pageTokens} tokens, too few for one context of ${maxContext({ rollouts })} tokens`
        : undefined,
  },
];

/** Issues of all rules, except rules that read a field which is already known to be wrong. */
export function crossCheck(recipe: Recipe, broken: readonly string[] = []): ConfigIssue[] {
  const touches = (path: string) =>
    broken.some((b) => path === b || path.startsWith(`${b}.`) || b.startsWith(`${path}.`));
  return CROSS_CHECKS.filter(({ paths }) => !paths.some(touches)).flatMap(({ paths, rule }) => {
    const message = rule(recipe);
    return message === undefined ? [] : [{ path: paths[0]!, message }];
  });
}
