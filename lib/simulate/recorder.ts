import type { GroupAccounting, GroupRequest, SettledGroup } from "../orchestration/index.ts";
import type { DomainName } from "../records.ts";
import type { Actors } from "./actors.ts";
import type { Attempt, SubmittedGroup } from "./attempt.ts";
import { LagTally } from "./lag-tally.ts";
import type { Machine } from "./machine.ts";
import { PopulationTally } from "./population-tally.ts";
import type { SimulatedRun, SimulatedStep } from "./run-facts.ts";
import type { Timeline } from "./timeline.ts";
import { TraceHash } from "./trace-hash.ts";
import type { VerifierWorkers } from "./verifier-workers.ts";

/** The components of a finished run. */
export interface Parts {
  readonly machine: Machine;
  readonly actors: Actors;
  readonly workers: VerifierWorkers;
  readonly accounting: GroupAccounting;
}

/** Records events of the accounting and of the simulation. */
export class Recorder {
  readonly #domains: readonly DomainName[];
  readonly #timeline: Timeline;
  readonly #hash = new TraceHash();
  readonly #steps: SimulatedStep[] = [];
  readonly #completed: Record<DomainName, number>;
  readonly #lags = new LagTally();
  readonly #population: PopulationTally;
  readonly #whole = { rollouts: 0, tokens: 0 };
  #begun = 0;
  #kept = 0;

  constructor(domains: readonly DomainName[], timeline: Timeline) {
    this.#domains = domains;
    this.#timeline = timeline;
    this.#population = new PopulationTally(timeline);
    this.#completed = Object.fromEntries(domains.map((domain) => [domain, 0]));
  }

  submitted({ group, attempts, domain }: GroupRequest): void {
    this.#hash.add(group, this.#domains.indexOf(domain), this.#timeline.seconds);
    this.#population.come(attempts);
  }

  settled({ request }: SettledGroup, step: number): void {
    this.#hash.add(request.group, step, this.#timeline.seconds);
  }

  /** Counts an attempt that an engine has finished. */
  finished({ length }: Attempt): void {
    this.#whole.rollouts += 1;
    this.#whole.tokens += length;
  }

  /** All attempts of the group have verdicts. */
  completed({ attempts, domain, submittedMs }: GroupRequest): void {
    this.#completed[domain]! += attempts;
    this.#population.go(attempts, this.#timeline.seconds - submittedMs / 1000);
  }

  /** @param replayed groups that the step trains again */
  stepBegins(groups: readonly SubmittedGroup[], version: number, replayed: readonly SubmittedGroup[]): void {
    this.#begun = this.#timeline.seconds;
    this.#kept = groups.length;
    this.#lags.step(groups, version, replayed);
  }

  /** @param outstanding groups in the pipeline @param queued those that no engine has begun */
  stepEnds(outstanding: number, queued: number): void {
    const end = this.#timeline.seconds;
    const before = this.#steps.at(-1)?.end ?? 0;
    const [waiting, training] = [this.#begun - before, end - this.#begun];
    const completed = { ...this.#completed };
    const lag = this.#lags.ofStep;
    this.#steps.push({ end, waiting, training, kept: this.#kept, completed, lag, queued, outstanding });
  }

  run(parts: Parts): SimulatedRun {
    const { seconds } = this.#timeline;
    const { gpus } = parts.machine;
    const { rollouts, tokens } = this.#whole;
    const steps = this.#steps;
    const completed = steps.at(-1)!.completed;
    return {
      steps,
      seconds,
      hours: seconds / 3600,
      gpuHours: (gpus * seconds) / 3600,
      secondsPerStep: seconds / steps.length,
      rolloutsPerStep: total(completed) / steps.length,
      meanTokens: tokens / rollouts,
      ...this.#loads(parts),
      tokens: {
        whole: tokens,
        underWay: parts.actors.sum((actor) => actor.tokensUnderWay),
        wasted: parts.actors.sum(({ wasted }) => wasted),
      },
      lag: this.#lags.ofRun,
      mixture: mixtureOf(parts.accounting.mixture().targets, steps),
      line: this.#population.facts,
      hash: this.#hash.text,
    };
  }

  #loads({ machine, actors, workers }: Parts) {
    const { seconds } = this.#timeline;
    const busy = actors.sum(({ progress }) => progress.busy);
    const sampled = actors.sum(({ progress }) => progress.tokens);
    const training = this.#steps.reduce((sum, step) => sum + step.training, 0);
    return {
      sampled,
      tokensPerSecondPerActor: sampled / machine.actors / seconds,
      busy: {
        actors: busy / machine.actors / seconds,
        trainers: training / seconds,
        verifiers: workers.busySeconds / machine.verifierWorkers / seconds,
      },
      running: busy === 0 ? 0 : actors.sum(({ progress }) => progress.sequenceSeconds) / busy,
      preemptions: actors.sum(({ preemptions }) => preemptions),
    };
  }
}

/** Shares among the rollouts that completed in the first step, and since the run began. */
function mixtureOf(
  targets: Readonly<Record<DomainName, number>>,
  steps: readonly SimulatedStep[],
): SimulatedRun["mixture"] {
  const first = steps[0]!.completed;
  const shares = sharesOf(steps.at(-1)!.completed);
  const off = Object.entries(targets).map(([domain, target]) => Math.abs(shares[domain]! - target));
  const mad = off.reduce((sum, distance) => sum + distance, 0) / off.length;
  return { targets, first: { rollouts: total(first), shares: sharesOf(first) }, shares, mad };
}

function sharesOf(counts: Readonly<Record<DomainName, number>>): Record<DomainName, number> {
  const all = Math.max(1, total(counts));
  return Object.fromEntries(Object.entries(counts).map(([domain, count]) => [domain, count / all]));
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
