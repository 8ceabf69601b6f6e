import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import type { GroupRequest, GroupRollouts, JudgedGroup, SettledGroup } from "../orchestration/index.ts";
import {
  batchGroups,
  drawProblems,
  GroupAccounting,
  mostGroups,
  ProblemDrawer,
  ReplayBuffer,
  type StepBatch,
  verifyGroups,
} from "../orchestration/pipeline/schedule.ts";
import type { DomainName, Problem, Rollout } from "../records.ts";
import { Channel } from "../shared/async/channel.ts";
import { Actors } from "./actors.ts";
import { type Attempt, type SubmittedGroup, submittedGroup } from "./attempt.ts";
import { expectDomains, type Machine } from "./machine.ts";
import { Recorder } from "./recorder.ts";
import type { SimulatedRun } from "./run-facts.ts";
import { SettledGroups } from "./settled.ts";
import { Timeline } from "./timeline.ts";
import { trainSeconds } from "./trainer-law.ts";
import { VerifierWorkers } from "./verifier-workers.ts";
import { drawnOutcomes, type Outcomes } from "./workload.ts";

/**
 * Simulates a run of a recipe on a described machine: the pipeline's real accounting, credits, sampler, drawer,
 * verification queue and batcher, with engines, trainer and verifiers that only take time. The same recipe, machine
 * and outcomes give the same run. Throws HONE_ERR_USAGE for a machine without the recipe's domains, or whose engine
 * cannot hold one answer.
 */
export async function simulate(recipe: Recipe, machine: Machine, outcomes?: Outcomes): Promise<SimulatedRun> {
  expectDomains(machine, Object.keys(recipe.domains));
  expectMemory(recipe, machine);
  const { rollouts, seed } = recipe;
  const drawn = outcomes ?? drawnOutcomes(machine.domains, seed, rollouts.maxOutputTokens);
  return new Simulation(recipe, machine, drawn).run();
}

function expectMemory({ rollouts }: Recipe, { actor }: Machine): void {
  const longest = rollouts.maxPromptTokens + rollouts.maxOutputTokens;
  if (actor.keyValueTokens >= longest) return;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `an engine holds keys and values of ${actor.keyValueTokens} tokens, and one answer may take ${longest}`,
  );
}

class Simulation {
  readonly #recipe: Recipe;
  readonly #machine: Machine;
  readonly #outcomes: Outcomes;
  readonly #timeline = new Timeline();
  readonly #accounting: GroupAccounting;
  readonly #actors: Actors;
  readonly #workers: VerifierWorkers;
  readonly #recorder: Recorder;
  readonly #made = new SettledGroups();
  /** Groups between submission and training; a problem is drawn once. */
  readonly #submitted = new Map<Problem, SubmittedGroup>();
  readonly #buffer: ReplayBuffer;
  /** Groups that the buffer may draw, by number. */
  readonly #replayable = new Map<number, SubmittedGroup>();
  readonly #generated = new Channel<GroupRollouts>();
  readonly #settled = new Channel<SettledGroup>();
  #version = 0;
  #step = 0;
  #failure: unknown;

  constructor(recipe: Recipe, machine: Machine, outcomes: Outcomes) {
    this.#recipe = recipe;
    this.#machine = machine;
    this.#outcomes = outcomes;
    this.#buffer = new ReplayBuffer(recipe);
    this.#actors = new Actors(machine, recipe.seed, this.#timeline, (attempt) => this.#finished(attempt));
    this.#workers = new VerifierWorkers(machine.verifierWorkers, this.#timeline);
    this.#recorder = new Recorder(Object.keys(recipe.domains), this.#timeline);
    this.#accounting = new GroupAccounting({
      recipe,
      domains: Object.keys(recipe.domains),
      version: () => this.#version,
      clock: this.#timeline,
      events: this.#recorder,
    });
  }

  async run(): Promise<SimulatedRun> {
    const { steps } = this.#recipe.training;
    const ends = (stage: Promise<void>) =>
      stage.catch((error: unknown) => {
        this.#failure = error;
      });
    void ends(this.#submitAll());
    void ends(this.#settle());
    void ends(this.#train());
    await this.#timeline.run(() => this.#failure !== undefined || this.#step >= steps);
    if (this.#failure !== undefined) throw this.#failure;
    this.#accounting.check();
    this.#accounting.credits.close();
    this.#generated.end();
    this.#settled.end();
    return this.#recorder.run({
      machine: this.#machine,
      actors: this.#actors,
      workers: this.#workers,
      accounting: this.#accounting,
    });
  }

  async #submitAll(): Promise<void> {
    const drawer = new ProblemDrawer(sourcesOf(this.#recipe), this.#accounting, this.#recipe.rollouts);
    for await (const request of drawProblems(drawer, this.#accounting, mostGroups(this.#recipe)))
      this.#submit(request);
  }

  #submit(request: GroupRequest): void {
    const outcome = this.#outcomes(request.domain, request.index, request.attempts, this.#step);
    const group = submittedGroup(request, outcome);
    this.#submitted.set(request.problem, group);
    this.#actors.submit(group);
  }

  #finished(attempt: Attempt): void {
    const { group } = attempt;
    this.#recorder.finished(attempt);
    group.left -= 1;
    if (group.left > 0) return;
    this.#accounting.generated(group.outcome.lengths.reduce((sum, length) => sum + length, 0));
    this.#generated.push({ request: group.request, rollouts: this.#made.rollouts(group) });
    this.#timeline.settle();
  }

  async #settle(): Promise<void> {
    for await (const { request, rollouts } of this.#judged()) {
      const group = this.#submitted.get(request.problem)!;
      this.#accounting.completed(request, request.attempts, 0);
      this.#recorder.completed(request);
      this.#settled.push(this.#made.settle(group, rollouts));
    }
  }

  #judged(): AsyncGenerator<JudgedGroup> {
    const judge = (rollouts: readonly Rollout[]) => this.#workers.judge(this.#verifySeconds(rollouts));
    return verifyGroups(this.#generated, judge, { groups: 0 }, () => this.#machine.verifierWorkers);
  }

  /** Seconds per rollout; rollouts of a group are adjacent, so each group is looked up once. */
  #verifySeconds(rollouts: readonly Rollout[]): number[] {
    let last: Problem | undefined;
    let ofGroup: readonly number[] = [];
    return rollouts.map(({ problem, attempt }) => {
      if (problem !== last) ofGroup = this.#submitted.get(problem)!.outcome.verify;
      last = problem;
      return ofGroup[attempt]!;
    });
  }

  async #train(): Promise<void> {
    const { training } = this.#recipe;
    const { trainer } = this.#machine;
    for await (const batch of batchGroups(this.#settled, training, this.#accounting)) {
      const trained = this.#groupsOf(batch);
      const replayed = trained.length > 0 ? this.#replayed(batch, trained) : [];
      this.#recorder.stepBegins(trained, this.#version, replayed);
      if (trained.length > 0) {
        await this.#actors.besideStep(trainSeconds(trainer, [...trained, ...replayed]));
        if (trainer.update !== undefined) await this.#actors.receive(trainer.update.seconds);
        this.#actors.update(++this.#version);
      }
      this.#accounting.trained(batch.credits);
      this.#recorder.stepEnds(this.#accounting.outstanding, this.#actors.queued);
      this.#step += 1;
      if (this.#step >= training.steps) return;
      await this.#timeline.after(trainer.between);
    }
  }

  /** Draws the groups that a step trains again; they count in its time and lag, and in no other statistic. */
  #replayed(batch: StepBatch, trained: readonly SubmittedGroup[]): SubmittedGroup[] {
    if (this.#recipe.training.replayBuffer === undefined) return [];
    const { replayed = [] } = this.#buffer.filled(batch, this.#step);
    const again = replayed.map(({ request }) => this.#replayable.get(request.group)!);
    this.#buffer.trained(batch, this.#step);
    for (const group of trained) this.#replayable.set(group.request.group, group);
    const here = new Set(this.#buffer.groups.map(({ request }) => request.group));
    for (const number of this.#replayable.keys()) if (!here.has(number)) this.#replayable.delete(number);
    return again;
  }

  /** Returns the kept groups of a batch; removes the dropped ones from the table of outcomes. */
  #groupsOf(batch: StepBatch): SubmittedGroup[] {
    return batch.groups.flatMap(({ request, group }) => {
      const simulated = this.#submitted.get(request.problem)!;
      this.#submitted.delete(request.problem);
      return group.dropped === undefined ? [simulated] : [];
    });
  }
}

/** Problems without content. */
function sourcesOf({ domains }: Recipe) {
  const problem = (domain: DomainName, index: number): Problem => ({
    id: index,
    domain,
    family: "simulated",
    level: 0,
    question: "",
    verifier: domain,
    reference: null,
  });
  const names = Object.keys(domains);
  return new Map(names.map((domain) => [domain, sourceOf(domain, (index) => problem(domain, index))]));
}

const sourceOf = (domain: DomainName, problem: (index: number) => Problem) => ({
  domain,
  families: ["simulated"],
  problem,
  heldOut: problem,
});
