import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../clock.ts";
import {
  adoptRowMaps,
  adoptSlopes,
  expectTrustedRecipes,
  type Recipe,
  shardingOf,
} from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import { checkOrigin } from "../../inference/index.ts";
import { RUN_FILES, readRunManifest, type StoredManifest } from "../../metrics/index.ts";
import type { Rollout, Verdict } from "../../records.ts";
import { deferred } from "../../shared/async/deferred.ts";
import type { Trust } from "../../trust.ts";
import type { GroupRequest } from "../pipeline/index.ts";
import {
  type ActorOptions,
  actorOptions,
  EntropyControl,
  type EntropyState,
  type FrozenScores,
  type GroupRollouts,
  given,
  openSlopes,
  ReplayBuffer,
  rewarded,
  type SettledGroup,
  type StepBatch,
  settle,
  shapingOptions,
  submitGroup,
  type TeachTokens,
  trainBatch,
  weighed,
} from "../pipeline/index.ts";
import {
  expectPlayable,
  type GroupEvent,
  hashRollout,
  hookAdvantages,
  type LoggedRollout,
  type RunHistory,
  readEvents,
  readHistory,
  recordedRecipe,
  type StepEvent,
} from "../records/index.ts";
import {
  Checkpoints,
  ReferenceWeights,
  recordedArithmetic,
  recordedClock,
  recordedCommits,
  recordedHeldOut,
  weightsHash,
} from "../recovery/index.ts";
import { openFrozenPolicies } from "../run/index.ts";
import {
  type Core,
  encodePrompt,
  nativeCore,
  openResources,
  type RunResources,
  type Verifiers,
} from "../setup/index.ts";
import { judgesOf, LOST, loggedVerdicts } from "./logged-verdicts.ts";
import { firstTurnPlans, RecordedEpisodes } from "./recorded-episodes.ts";
import { recordedTeacher } from "./recorded-teacher.ts";

export interface ReplayVerdict {
  readonly steps: number;
  readonly rollouts: number;
  /** Hash of the final weights; compared with the run's if it was completed. */
  readonly weights: string;
  readonly weightsCompared: boolean;
}

interface ReplayOptions {
  readonly core?: Core;
  readonly verifiers?: Verifiers;
  /** Recipe of the entry script, for a run with a custom objective: its function is not in the folder. */
  readonly recipe?: Recipe | undefined;
  /** What the folder's record may make this process execute. Default: nothing. */
  readonly trust?: Trust | undefined;
  readonly onStep?: (step: number) => void;
}

/**
 * Executes a run again from its folder: its initial weights, and the log of events. Engine sequences wait for their
 * recorded weight versions, steps take their recorded groups. Throws HONE_ERR_REPLAY naming the first rollout,
 * version or weights that came out differently, ConfigError if the recipe's objective is another function than the
 * run's, HONE_ERR_TRUST listing the named modules and judges that `trust` does not allow.
 */
export async function replayRun(dir: string, options: ReplayOptions = {}): Promise<ReplayVerdict> {
  const manifest = readRunManifest(dir);
  const log = join(dir, RUN_FILES.events);
  const history = readHistory(readEvents(log));
  expectPlayable(history, log);
  if (history.steps.length === 0) {
    throw new HoneError("HONE_ERR_REPLAY", `${log} records no step: there is nothing to replay`);
  }
  const stretches = history.stretches.map(({ recipe, ...stretch }) => ({
    ...stretch,
    recipe: recordedRecipe(recipe ?? manifest.config, dir, { ...manifest, trust: options.trust }),
  }));
  const judges = judgesOf(history, options.verifiers);
  const uses = ["problems", "objective", ...(judges === undefined ? ["verifiers" as const] : [])] as const;
  expectTrustedRecipes(
    stretches.map(({ recipe }) => recipe),
    uses,
  );
  const core = options.core ?? (await nativeCore());
  expectBits(manifest, core.info().isa, dir);
  const saved = mkdtempSync(join(tmpdir(), "hone-replay-"));
  const end = join(saved, "weights");
  let rollouts = 0;
  let carried: Carried = {};
  const keep = Math.max(...stretches.map(({ recipe }) => recipe.training.replayBuffer?.maxAge ?? 0));
  try {
    for (const [n, { recipe, steps }] of stretches.entries()) {
      if (options.recipe !== undefined) {
        adoptSlopes(recipe.objective, options.recipe.objective, dir);
        adoptRowMaps(recipe, options.recipe, dir);
      }
      await openSlopes(recipe); // throws before anything is generated
      expectExact(recipe, dir);
      await using resources = await openResources(recipe, core, judges, {
        clock: recordedClock(manifest),
        heldOut: recordedHeldOut({ dir, resume: "auto" }),
        commits: recordedCommits({ dir, resume: "auto" }),
        arithmetic: recordedArithmetic(manifest),
      });
      expectOrigins(dir, manifest, resources);
      const checkpoints = new Checkpoints(dir);
      if (n === 0) await checkpoints.loadStart(resources.trainer, resources);
      else {
        if (recipe.lora !== undefined) await checkpoints.loadBase(resources.trainer, resources.model);
        await resources.trainer.load(end);
      }
      const refreshes = {
        kept: new ReferenceWeights(saved),
        last: carried.reference,
        oldest: () => undefined,
      };
      const said = recordedTeacher(dir, recipe);
      const here = said ? { ...resources, teacher: undefined } : resources;
      await using frozen = await openFrozenPolicies(here, checkpoints, refreshes);
      const entropy = new EntropyControl(recipe.objective, carried.entropy);
      const buffer = new ReplayBuffer(recipe, carried.replayable, keep);
      const told = { ...frozen, entropy, buffer, said };
      const replay = new Replay(resources, { steps, drawn: history.drawn }, told);
      for (const [i, { event }] of steps.entries()) {
        await replay.step(i);
        options.onStep?.(event.s + 1);
      }
      carried = {
        entropy: entropy.saved(),
        reference: frozen.referenceStep(),
        replayable: buffer.groups,
      };
      rollouts += replay.rollouts;
      rmSync(end, { recursive: true, force: true });
      await resources.trainer.save(end, "{}");
    }
    const weights = weightsHash(end);
    if (history.weights !== undefined && history.weights !== weights) {
      throw diverged(`the final weights hash to ${weights}, the run's to ${history.weights}`, {});
    }
    return { steps: history.steps.length, rollouts, weights, weightsCompared: history.weights !== undefined };
  } finally {
    rmSync(saved, { recursive: true, force: true });
  }
}

/** State, other than weights, that a stretch of a run passes to the next. */
interface Carried {
  readonly entropy?: EntropyState | undefined;
  readonly reference?: number | undefined;
  readonly replayable?: ReplayBuffer["groups"];
}

function expectOrigins(dir: string, manifest: StoredManifest, { model, teacher }: RunResources): void {
  checkOrigin(dir, manifest.model, model.origin);
  checkOrigin(dir, manifest.teacher, teacher?.origin, "teacher.folder");
}

/** Throws if several trainers sum gradients in another order than one trainer would. */
function expectExact(recipe: Recipe, dir: string): void {
  const sharding = shardingOf(recipe);
  const trainers = recipe.hardware?.processes?.trainers ?? 0;
  if (trainers < 2 || sharding === undefined || sharding.exact || sharding.stage === "gradients") return;
  throw new HoneError(
    "HONE_ERR_UNSUPPORTED",
    `${dir} was trained by ${trainers} processes with hardware.sharding.exact false, whose sums one process does not repeat`,
    { hint: "Runs with exact: true, the default, can be executed again." },
  );
}

/**
 * Throws if only one of run and core used the baseline, which has no fused multiply-add; all other
 * instruction sets give the same bits, in either arithmetic.
 */
function expectBits({ versions, config }: StoredManifest, isa: string, dir: string): void {
  const recorded = versions["isa"];
  const onGpu = (config as { device?: unknown } | undefined)?.device === "cuda";
  if (onGpu || recorded === undefined || (recorded === "baseline") === (isa === "baseline")) return;
  throw new HoneError(
    "HONE_ERR_REPLAY",
    `${dir} was computed on the instruction set ${recorded}; this core runs on ${isa}, which rounds otherwise`,
    {
      hint:
        recorded === "baseline"
          ? "Set HONE_ISA=baseline."
          : "Replay it on a processor with AVX2, or on arm64.",
    },
  );
}

/**
 * State at the start of a session that is replayed, and `said`: the recorded scores of a teacher that is not called
 * again.
 */
interface Told {
  readonly entropy: EntropyControl;
  readonly buffer: ReplayBuffer;
  readonly said: ((step: number) => TeachTokens) | undefined;
}

/** One stretch of a run: a recipe, and its initial weights. */
class Replay {
  rollouts = 0;
  readonly #resources: RunResources;
  readonly #history: Pick<RunHistory, "steps" | "drawn">;
  readonly #entropy: EntropyControl;
  readonly #buffer: ReplayBuffer;
  readonly #frozen: FrozenScores;
  readonly #said: ((step: number) => TeachTokens) | undefined;
  readonly #actorOptions: ActorOptions;
  readonly #logged = new Map<number, GroupEvent>();
  readonly #episodes: RecordedEpisodes;
  /** Groups by the version they started with. */
  readonly #byVersion = new Map<number, GroupEvent[]>();
  readonly #submitted = new Set<number>();
  /** Rollouts of the groups that no step has trained or dropped yet. */
  readonly #rollouts = new Map<number, Promise<GroupRollouts>>();

  constructor(
    resources: RunResources,
    history: Pick<RunHistory, "steps" | "drawn">,
    { entropy, buffer, said, ...frozen }: FrozenScores & Told,
  ) {
    this.#said = said;
    this.#buffer = buffer;
    this.#entropy = entropy;
    this.#resources = resources;
    this.#history = history;
    this.#frozen = frozen;
    for (const group of history.steps.flatMap(({ groups }) => groups)) {
      this.#logged.set(group.g, group);
      const version = startVersion(group);
      const others = this.#byVersion.get(version);
      if (others === undefined) this.#byVersion.set(version, [group]);
      else others.push(group);
    }
    const { recipe, model, plays } = resources;
    this.#episodes = new RecordedEpisodes(plays, this.#logged);
    this.#actorOptions = {
      ...actorOptions(recipe, model.format, systemClock),
      plan: ({ group }) => firstTurnPlans(this.#logged.get(group)!),
      episodes: this.#episodes,
    };
  }

  async step(i: number): Promise<void> {
    const { trainer, generations, recipe } = this.#resources;
    const { event, groups } = this.#history.steps[i]!;
    if (i === 0) await trainer.publish(generations.engine);
    this.#submitFor(trainer.version);
    const settled: SettledGroup[] = [];
    for (const { g } of groups) settled.push(await this.#settle(await this.#taken(g)));
    settled.sort((a, b) => a.request.group - b.request.group);
    await this.#episodes.submitted(trainer.version);
    await generations.engine.takenUp?.(trainer.version);
    const parts = {
      recipe,
      trainer,
      engine: generations.engine,
      clock: systemClock,
      frozen: this.#said ? { ...this.#frozen, teacher: this.#said(event.s + 1) } : this.#frozen,
      entropy: this.#entropy,
    };
    const taken = given(weighed(settled, shapingOptions(recipe)), hookAdvantages(event));
    const batch = this.#buffer.filled({ groups: taken, credits: 0 }, event.s);
    expectReplayed(batch, event);
    const update = await trainBatch(batch, event.s, parts);
    if (update?.report.skipped === false) this.#buffer.trained(batch, event.s);
    await this.#frozen.stepped?.(event.s + 1);
    if (trainer.version !== event.v) {
      throw diverged(`step ${event.s} led to version ${trainer.version}, in the run to ${event.v}`, {
        step: event.s,
      });
    }
  }

  /** Submits all requests that need this version: on return the engine may move on to later ones. */
  #submitFor(version: number): void {
    for (const group of this.#byVersion.get(version) ?? []) {
      if (this.#submitted.has(group.g)) continue;
      this.#submitted.add(group.g);
      const { model, recipe, generations } = this.#resources;
      const request = this.#request(group.g, version, group.r.length);
      const prompt = encodePrompt(request.problem, model.format, recipe.rollouts.maxPromptTokens);
      const { promise, resolve: deliver, reject: fail } = deferred<GroupRollouts>();
      // the consumer of the group gets the error, perhaps in a later step
      promise.catch(() => {}).finally(() => this.#episodes.over(group.g));
      this.#rollouts.set(group.g, promise);
      submitGroup({ request, prompt }, generations, this.#actorOptions, { deliver, fail });
    }
  }

  #request(group: number, version: number, attempts: number): GroupRequest {
    const { domain, index } = this.#history.drawn.get(group)!;
    const problem = this.#resources.sources.get(domain)!.problem(index);
    return { group, domain, index, problem, attempts, submittedVersion: version, submittedMs: 0 };
  }

  #taken(group: number): Promise<GroupRollouts> {
    const rollouts = this.#rollouts.get(group);
    if (rollouts === undefined) throw diverged(`group ${group} was never submitted`, { group });
    this.#rollouts.delete(group);
    return rollouts;
  }

  async #settle({ request, rollouts }: GroupRollouts): Promise<SettledGroup> {
    const logged = this.#logged.get(request.group)!;
    for (const rollout of rollouts) {
      compare(rollout, logged.r.find(([attempt]) => attempt === rollout.attempt)!, request);
      this.rollouts += 1;
    }
    const verdicts = loggedVerdicts(logged) ?? (await this.#judgeAgain(rollouts, logged));
    const shaping = shapingOptions(this.#resources.recipe);
    const judged = settle(request, rollouts, verdicts, shaping);
    const settled = logged.h === undefined ? judged : rewarded(judged, logged.h, shaping);
    if (logged.x === settled.group.dropped) return settled;
    if (logged.x === "hook") return { ...settled, group: { ...settled.group, dropped: "hook" } };
    throw diverged(
      `group ${request.group} (${request.domain}) was ${logged.x ?? "kept"} in the run, ${settled.group.dropped ?? "kept"} here`,
      { group: request.group },
    );
  }

  /** Judges rollouts again, for logs without verdicts. */
  async #judgeAgain(rollouts: readonly Rollout[], logged: GroupEvent): Promise<Verdict[]> {
    const judged = await this.#resources.verifiers.verify(rollouts);
    return judged.map((verdict, i) => (logged.u?.includes(rollouts[i]!.attempt) ? LOST : verdict));
  }
}

function expectReplayed({ replayed = [] }: StepBatch, { s, b = [] }: StepEvent): void {
  const here = replayed.map(({ request }) => request.group);
  if (here.join() === b.join()) return;
  throw diverged(`step ${s} trained groups [${here}] again, in the run [${b}]`, { step: s });
}

const runsOf = ([, , , ...runs]: LoggedRollout): number[] => runs;

function startVersion(group: GroupEvent): number {
  return runsOf(group.r[0]!)[1]!;
}

function compare(
  rollout: Rollout,
  [attempt, tokens, hash]: LoggedRollout,
  { group, problem }: GroupRequest,
): void {
  const here = hashRollout(rollout);
  if (here === hash) return;
  throw diverged(
    `group ${group}, attempt ${attempt} (${problem.domain} problem ${problem.id}): ${rollout.tokens.length} tokens with hash ${here}, in the run ${tokens} with ${hash}`,
    { group, attempt, domain: problem.domain, problem: problem.id },
  );
}

function diverged(message: string, details: Record<string, unknown>): HoneError {
  return new HoneError("HONE_ERR_REPLAY", message, {
    details,
    hint: "On the CPU a replay is exact for the same build and instruction set; compare `hone doctor` with run.json.",
  });
}
