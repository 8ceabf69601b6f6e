import { isForAgents, type Recipe, recipeWarnings } from "../config/index.ts";
import {
  counted,
  type DatasetReport,
  type ProblemSource,
  problemName,
  reportLine,
  rowWarnings,
} from "../data/index.ts";
import { EnvironmentPartner, type Play } from "../episodes/index.ts";
import { HoneError } from "../errors.ts";
import type { NativeInfo } from "../native/face.ts";
import {
  admissionOf,
  expectDemonstrations,
  giverText,
  type Model,
  nativeCore,
  openModel,
  openProblems,
  openSlopes,
  openVerifiers,
  PromptEncoder,
  playsOf,
  rewardPlan,
  templateWarning,
  whyNotRunnable,
} from "../orchestration/index.ts";
import { choiceText, expectFit, inUnits, type MemoryPlan } from "../plan/index.ts";
import type { DomainName, Problem, Verdict } from "../records.ts";
import { flow } from "../report/index.ts";
import type { VerifierPool } from "../rewards/index.ts";
import type { PromptFormat } from "../text/index.ts";
import type { Stage } from "./cluster-check.ts";
import { type Rehearsal, rehearse, rehearseStep } from "./dry-run.ts";
import { judgeStages } from "./judge-check.ts";
import { knownModel } from "./model-name.ts";
import { planRecipe, UNKNOWN_MEMORY } from "./plan.ts";
import { checkSlopes } from "./slopes-check.ts";
import { teacherStage } from "./teacher-check.ts";

export interface DomainCheck {
  readonly questions: readonly string[];
  /** Tokens of the longest prompt, among the problems that can be prompted. */
  readonly longestPrompt: number;
  /** Number of problems examined, and how many of them cannot be prompted, for instance because they are too long. */
  readonly looked: number;
  readonly leftOut: number;
  readonly verifiers: readonly string[];
  /** Functions and servers of the recipe's custom rewards. */
  readonly rewards?: readonly string[];
  /** Counts of the rows of a data set by outcome. */
  readonly report?: DatasetReport;
  /** How often the run trains on each row of the data set, on average. */
  readonly passes?: number;
}

export interface Findings {
  readonly recipe: Recipe;
  readonly stages: readonly Stage[];
  /** Domains and validation sets by name. */
  readonly domains: Readonly<Record<DomainName, DomainCheck>>;
  readonly plan: MemoryPlan;
  /** Settings that are allowed but rarely intended. */
  readonly warnings: readonly string[];
}

/** How many problems are looked at: first those whose prompts are measured, then those that are judged. */
const LOOKED_AT = 32;
const SAMPLES = 3;
/** Demonstrations of a warm start that are written: half a second of work. */
const DEMONSTRATIONS = 20_000;

/**
 * A dry run: the model's files, every domain's data, prompts and verifiers on a few problems, demonstrations,
 * memory, one real step of the pipeline with a two-layer model of the same architecture, and whether `hone
 * run` would work here. Missing parts (weights, tokenizer, data sets) are replaced and named; no weights are
 * downloaded. Throws what model, data and verifiers throw for the recipe.
 * @param asksJudges whether each LLM judge is sent a question
 */
export async function checkRecipe(recipe: Recipe, asksJudges = true): Promise<Findings> {
  await using rehearsal = await rehearse(recipe);
  const instead = (what: string) => {
    const missing = rehearsal.missing.get(what);
    return missing === undefined ? {} : { instead: missing };
  };
  const stages: Stage[] = [
    { name: "recipe", ok: true, said: `${recipe.name}, seed ${recipe.seed}: every field is valid` },
  ];
  if (recipe.teacher?.folder !== undefined) await knownModel(recipe.teacher.folder);
  const plan = await planRecipe(recipe);
  const model = await openModel(rehearsal.recipe);
  const parameters = `${plan.network.parameters.toLocaleString("en")} parameters`;
  stages.push({
    name: "model",
    ok: true,
    ...instead("model"),
    said: `${parameters}, ${model.tokenizer.vocabularySize.toLocaleString("en")} tokens, answers end at ${model.format.stopIds.join(", ")}`,
  });
  stages.push(...(await teacherStage(recipe, model, rehearsal.hasTokenizer)));
  await using verifiers = openVerifiers(recipe);
  const problems = await openProblems(rehearsal.recipe, {
    admit: admissionOf(rehearsal.recipe, model.format),
    prompts: model.prompts,
  });
  const domains = await checkDomains(rehearsal.recipe, problems, model, verifiers);
  for (const [domain, { longestPrompt, looked, verifiers: judges }] of Object.entries(domains)) {
    const said = `prompts up to ${longestPrompt} tokens in ${looked} problems, judged by ${judges.join(", ")}`;
    stages.push({ name: domain, ok: true, said, ...instead(domain) });
  }
  stages.push(...(await judgeStages(recipe, asksJudges)));
  const plays = playsOf(rehearsal.recipe);
  // without the model's own tokenizer, lengths are meaningless
  const demonstrated = rehearsal.hasTokenizer
    ? await expectDemonstrations(recipe, { model, plays, sources: problems.sources }, DEMONSTRATIONS)
    : 0;
  if (demonstrated > 0)
    stages.push({
      name: "warm start",
      ok: true,
      said: `${demonstrated} demonstrations fit prompt and answer`,
    });
  const slopes = await openSlopes(recipe);
  if (slopes !== undefined) stages.push({ name: "objective", ...checkSlopes(slopes, recipe.objective) });
  const { metrics } = await rehearseStep(rehearsal.small, verifiers);
  const rollouts = rehearsal.small.training.groupsPerStep * rehearsal.small.rollouts.groupSize;
  stages.push({
    name: "one step",
    ok: true,
    said: `2 layers of the same architecture on the CPU: ${rollouts} rollouts judged, gradient of norm ${metrics["grad/norm"]!.toPrecision(3)}, weights updated and published`,
  });
  stages.push(memoryStage(plan));
  stages.push(...(await agentStages(recipe)));
  stages.push(await hereStage(recipe, rehearsal));
  const template = rehearsal.hasTokenizer ? templateWarning(recipe, model.format) : undefined;
  const warnings = [
    ...recipeWarnings(recipe),
    ...(template === undefined ? [] : [template]),
    ...dataWarnings(domains),
  ];
  return { recipe, stages, domains, plan, warnings };
}

function dataWarnings(domains: Findings["domains"]): string[] {
  return Object.entries(domains).flatMap(([name, { report }]) =>
    report === undefined ? [] : rowWarnings(report).map((said) => `${name}: ${said}`),
  );
}

/** Checks that only a run started by agents needs; empty for other runs. */
async function agentStages(recipe: Recipe): Promise<Stage[]> {
  if (!isForAgents(recipe)) return [];
  const { clusterStages } = await import("./cluster-check.ts");
  return clusterStages(recipe);
}

/** Name of the stage that says whether this machine can run the recipe. */
export const RUN = "run";

/** Describes how to run a recipe that this machine cannot run, or why no machine can. */
async function elsewhereText(recipe: Recipe, info: NativeInfo): Promise<string> {
  const { shapeOf } = await import("./cluster-check.ts");
  const cuda = { ...info.cuda, devices: ["as the recipe says"] };
  const fault = whyNotRunnable(recipe, { ...info, cuda }, true);
  const what = `this recipe is planned as ${shapeOf(recipe)}`;
  if (fault !== undefined) return `${what}, and this version does not run it there either: ${fault.message}`;
  const onOne = (recipe.hardware?.nodes ?? 1) === 1 ? "hone run on such a machine, or with " : "";
  return `${what}; start it with ${onOne}hone launch slurm, kubernetes or mpirun`;
}

/** Checks whether `hone run` would accept this recipe on this machine, apart from memory. */
async function hereStage(recipe: Recipe, { missing, required }: Rehearsal): Promise<Stage> {
  const info = (await nativeCore()).info();
  const fault = whyNotRunnable(recipe, info);
  const absent = [...missing.keys()].filter((what) => required.has(what));
  const reasons = [
    ...(fault === undefined ? [] : [fault.message]),
    ...(absent.length === 0 ? [] : [`not here: ${absent.join(", ")}`]),
  ];
  const elsewhere = isForAgents(recipe) ? `${await elsewhereText(recipe, info)}; ` : "";
  if (reasons.length > 0)
    return { name: RUN, ok: false, said: `${elsewhere}hone run refuses it here: ${reasons.join("; ")}` };
  return { name: RUN, ok: true, said: "hone run does it here" };
}

/** Tries data, prompts and verifiers on three problems of every domain and validation set. */
async function checkDomains(
  recipe: Recipe,
  { sources, sets }: Awaited<ReturnType<typeof openProblems>>,
  { format }: Model,
  verifiers: ReturnType<typeof openVerifiers>,
): Promise<Record<DomainName, DomainCheck>> {
  const domains: Record<DomainName, DomainCheck> = {};
  const encoder = new PromptEncoder(format, recipe.rollouts.maxPromptTokens);
  using plays = playsOf(recipe);
  const measured = [...sets].map(([name, { source }]) => [name, source] as const);
  for (const [domain, source] of [...sources, ...measured]) {
    const plan = rewardPlan(recipe, domain);
    const trained = (recipe.domains[domain]?.weight ?? 0) > 0;
    const { askable, leftOut } = lookAt(
      (index) => (trained ? source.problem(index) : source.heldOut(index)),
      encoder,
    );
    const problems = askable.slice(0, SAMPLES);
    const play = plays.get(domain);
    const silence = play ? [] : problems.map((problem) => ({ ...SILENCE, problem }));
    const scores = play && (await tryEpisodes(play, problems, format, source));
    const verdicts = await verifiers.verify(silence);
    for (const [i, verdict] of verdicts.entries()) {
      if (verdict.status === "unscored" && verdict.notApplicable) continue;
      const isOwn = plan !== undefined && verdict.status === "correct"; // a custom reward may accept an empty answer
      if ((verdict.status !== "unscored" && verdict.status !== "correct") || isOwn) continue;
      const found =
        verdict.status === "unscored"
          ? `cannot judge: ${verdict.cause}`
          : "judges an empty answer as correct";
      throw new HoneError(
        "HONE_ERR_VERIFIER",
        `${problems[i]!.verifier} ${found} (${problemName(source, problems[i]!.id)})`,
      );
    }
    domains[domain] = {
      questions: problems.map((p) => p.question),
      longestPrompt: Math.max(...askable.map((problem) => encoder.encode(problem).tokens.length)),
      looked: LOOKED_AT,
      leftOut,
      verifiers: [...new Set(problems.map((p) => p.verifier))],
      ...(plan && { rewards: rewardLines(plan, verifiers.stats(), verdicts[0]) }),
      ...(play?.python && {
        rewards: [
          `environment: ${await play.python.about()}; to two empty messages it gave ${Number(scores![0]!.toPrecision(6))}`,
        ],
      }),
      ...(source.report && { report: source.report }),
      ...(trained && source.report && { passes: passesOf(recipe, domain, source.report.training) }),
    };
  }
  return domains;
}

/** Groups of a domain that all steps train on, by its weight, over its rows. */
function passesOf({ domains, training }: Recipe, domain: DomainName, rows: number): number {
  const weights = Object.values(domains).reduce((sum, { weight }) => sum + weight, 0);
  return (training.steps * training.groupsPerStep * (domains[domain]!.weight / weights)) / rows;
}

/** One line: "40 steps of 16 groups: 7.2 passes over its rows". */
function passesText(passes: number, { training, advantages }: Recipe): string {
  const more =
    advantages.filter === "none"
      ? ""
      : ", not counting groups of equal scores, which are drawn and not trained";
  return `${counted(training.steps, "step")} of ${counted(training.groupsPerStep, "group")}: ${Number(passes.toPrecision(2))} passes over its rows${more}`;
}

/** Plays two episodes with empty answers and returns their scores. Throws HONE_ERR_VERIFIER, HONE_ERR_UNSUPPORTED. */
async function tryEpisodes(
  play: Play,
  problems: readonly Problem[],
  format: PromptFormat,
  source: ProblemSource,
): Promise<number[]> {
  const closing = new AbortController().signal;
  const scores: number[] = [];
  for (const problem of problems) {
    const partner = new EnvironmentPartner({ play, problem, format, turns: format.turns(), closing });
    for (let turn = 0; turn < 2; turn++) {
      const reply = await partner.answer({ turn, tokens: new Int32Array(0), ended: undefined });
      if ("over" in reply) break;
    }
    const verdict = await partner.verdict("turns", 2);
    if (verdict.status === "unscored")
      throw new HoneError(
        "HONE_ERR_VERIFIER",
        `${problem.verifier} failed in a trial episode: ${verdict.cause} (${problemName(source, problem.id)})`,
      );
    scores.push(verdict.score);
  }
  return scores;
}

/** An empty answer. */
const SILENCE = { text: "", finish: "eos", tokens: new Int32Array(0) } as const;

type RewardPlan = NonNullable<ReturnType<typeof rewardPlan>>;

/** One line per reward; for a Python reward also its signature, the interpreter that calls it, and the value it returned. */
function rewardLines(
  { parts, isSum }: RewardPlan,
  stats: ReturnType<VerifierPool["stats"]>,
  verdict: Verdict | undefined,
): string[] {
  return parts.flatMap((part) => {
    const { about } = stats[part.verifier] ?? {};
    const line = rewardLine(part, isSum);
    if (about === undefined || verdict === undefined) return [line];
    return [line, `${about}; to an empty answer it gave ${gavePart(verdict, part.name, isSum)}`];
  });
}

function gavePart(verdict: Verdict, name: string, isSum: boolean): string {
  if (verdict.status === "unscored") return "None: it does not apply";
  const score = isSum ? verdict.parts?.[name] : verdict.score;
  return score === undefined ? "None: it does not apply" : `${Number(score.toPrecision(6))}`;
}

/** Describes a reward: "reward short, weight 0.2: function short in the main process". */
function rewardLine({ name, weight, giver }: RewardPart, isOneOfSeveral: boolean): string {
  const which = isOneOfSeveral ? `reward ${name}, weight ${weight}` : "reward";
  const risk = giver.by === "function" ? ": an endless loop there holds up the whole run" : "";
  return `${which}: ${giverText(giver)}${risk}`;
}

type RewardPart = RewardPlan["parts"][number];

/**
 * The first problems of a source that can be prompted. Throws HONE_ERR_DATA if none of the examined problems
 * can.
 */
function lookAt(
  problem: ProblemSource["problem"],
  encoder: PromptEncoder,
): { readonly askable: Problem[]; readonly leftOut: number } {
  const all = Array.from({ length: LOOKED_AT }, (_, i) => problem(i));
  const askable = all.filter((problem) => encoder.fault(problem) === undefined);
  if (askable.length === 0) throw encoder.fault(all[0]!)!;
  return { askable, leftOut: all.length - askable.length };
}

function memoryStage(plan: MemoryPlan): Stage {
  try {
    expectFit(plan);
  } catch (error) {
    if (!HoneError.is(error)) throw error;
    return { name: "memory", ok: false, said: `${error.message}. ${error.hint ?? ""}` };
  }
  const roles = plan.roles.map(({ role, devices, total }) =>
    devices > 1 ? `${inUnits(total)} on each of ${devices} (${role})` : `${inUnits(total)} (${role})`,
  );
  const { device, capacity } = plan;
  if (capacity === undefined)
    return { name: "memory", ok: true, said: `${device}: ${roles.join(", ")}`, instead: UNKNOWN_MEMORY };
  const choice = choiceText(plan);
  const said = `${device}, ${inUnits(capacity)}: ${roles.join(", ")}`;
  return {
    name: "memory",
    ok: true,
    said: choice === undefined ? said : `${said}. A run makes it fit by ${choice}`,
  };
}

const COLUMNS = 80;

/**
 * Formats a tick or a cross per stage, with what was missing, the rows left out and the first question of the real
 * data; then warnings.
 */
export function checkText({ recipe, stages, domains, warnings }: Findings): string {
  const width = Math.max(...stages.map(({ name }) => name.length));
  const lines = stages.flatMap(({ name, ok, said, instead }) => {
    const found = Object.hasOwn(domains, name) ? domains[name] : undefined;
    const more = [
      ...(instead === undefined ? [] : [instead]),
      ...(found?.rewards ?? []),
      ...(found?.report ? [reportLine(found.report)] : []),
      ...(found?.passes === undefined ? [] : [passesText(found.passes, recipe)]),
      ...(found && found.leftOut > 0
        ? [`${found.leftOut} of ${found.looked} problems are too long to prompt; others are drawn instead`]
        : []),
      ...(instead === undefined ? (found?.questions ?? []) : [])
        .slice(0, 1)
        .map((question) => `e.g. ${oneLine(question)}`),
    ];
    const [first, ...rest] = [said, ...more].flatMap((line) =>
      flow(line.split(" "), COLUMNS - width - 4, " "),
    );
    return [
      `${ok ? "✓" : "✗"} ${name.padEnd(width)}  ${first}`,
      ...rest.map((line) => `  ${" ".repeat(width)}  ${line}`),
    ];
  });
  const warned = warnings.flatMap((warning) => flow(`warning: ${warning}`.split(" "), COLUMNS, " "));
  return [...lines, ...(warned.length > 0 ? [""] : []), ...warned].join("\n");
}

const MAX_LINE = 65;

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line;
}
