import type { Clock } from "../../clock.ts";
import type { Recipe } from "../../config/index.ts";
import type { StepFacts } from "../../metrics/index.ts";
import { type DomainName, sampledTokens } from "../../records.ts";
import { trainedMembers } from "../../rewards/shape-group.ts";
import { Credits } from "./credits.ts";
import { DomainSampler } from "./domain-sampler.ts";
import type { DrawnGroup, GroupRequest, UnfinishedGroups } from "./group-request.ts";
import type { SettledGroup } from "./grouper.ts";
import { Ledger, type SavedLedger } from "./ledger.ts";
import { type Here, OutstandingGroups, submission } from "./outstanding-groups.ts";
import type { PipelineState } from "./pipeline-state.ts";
import { TrainedMixture } from "./trained-mixture.ts";

export interface AccountingParts {
  readonly recipe: Recipe;
  readonly domains: readonly DomainName[];
  /** The event log. */
  readonly events: {
    submitted(request: GroupRequest): void;
    settled(settled: SettledGroup, step: number): void;
  };
  /** Version of the weights that a step would start from now. */
  readonly version: () => number;
  readonly clock: Clock;
  readonly unfinished?: UnfinishedGroups | undefined;
  /** Decides when the credits that a step gives back are granted (see Credits). */
  readonly whenGiven?: (grant: () => void) => void;
  /** Called with every settled group and its step. */
  readonly onSettled?: ((settled: SettledGroup, step: number) => void) | undefined;
}

/** The part of a checkpoint that the accounting writes; groups in the pipeline count as never submitted. */
export type SavedAccounting = Pick<PipelineState, "sampler" | "ledger" | "outstanding" | "generatedTokens">;

/**
 * State of every group and rollout since the run began. A group is `submitted`, its rollouts are `completed`, it is
 * `settled` (taken for training, or dropped for a reason), and after its step `trained`. Each stage reports these
 * transitions here and nowhere else; the sampler's counts, the credits and the event log follow from them.
 */
export class GroupAccounting {
  readonly credits: Credits;
  readonly #parts: AccountingParts;
  readonly #sampler: DomainSampler;
  /** Picks domains instead of the sampler if the recipe controls the trained mixture. */
  readonly #trainedMixture: TrainedMixture | undefined;
  readonly #ledger: Ledger;
  readonly #outstanding = new OutstandingGroups();
  /** The step that takes the next batch. */
  #step: number;
  #generatedTokens: number;

  constructor(parts: AccountingParts, state?: PipelineState) {
    const { recipe, domains } = parts;
    this.#parts = parts;
    const weights = Object.fromEntries(Object.entries(recipe.domains).map(([d, { weight }]) => [d, weight]));
    const mode = recipe.sampler === "adaptive" ? "adaptive" : "static";
    this.#sampler = new DomainSampler({ weights, seed: recipe.seed, mode });
    if (state !== undefined) this.#sampler.setState(state.sampler);
    if (recipe.sampler === "trained")
      this.#trainedMixture = new TrainedMixture(this.#targets(), recipe.rollouts.groupSize);
    this.#ledger = new Ledger(domains, state?.ledger as SavedLedger | undefined);
    this.credits = new Credits(recipe.training.credits, parts.whenGiven);
    this.#step = state?.step ?? 0;
    this.#generatedTokens = state?.generatedTokens ?? 0;
  }

  /** The domain of the next prompt. */
  pick(): DomainName {
    return this.#trainedMixture?.pick(this.#ledger.progress(this.#outstanding)) ?? this.#sampler.pick();
  }

  /** Records that the group goes to the engine now, and returns its request. */
  submitted(drawn: DrawnGroup): GroupRequest {
    const { events, clock, recipe, version, unfinished } = this.#parts;
    const { submittedVersion, begun } = submission(drawn, version(), recipe.training.maxLag, unfinished);
    const request = requested(drawn, submittedVersion, clock.now(), begun);
    this.#outstanding.add(request);
    this.#ledger.submitted(request.domain, request.attempts);
    events.submitted(request);
    return request;
  }

  /** Counts tokens that the engine sampled for rollouts that came back. */
  generated(tokens: number): void {
    this.#generatedTokens += tokens;
  }

  /** All attempts have ended: `completed` of them normally, `failed` aborted. Called before any filter. */
  completed(request: GroupRequest, completed: number, failed: number): void {
    const { domain } = request;
    this.#outstanding.complete(request, completed, failed);
    this.#ledger.completed(domain, completed);
    this.#ledger.failed(domain, failed);
    for (let i = 0; i < completed + failed; i++) this.#sampler.recordCompletion(domain);
  }

  /** The group leaves the pipeline: each of its rollouts is trained in the next step, or dropped for a reason. */
  settled(settled: SettledGroup): void {
    const { request, group, unscored } = settled;
    const { domain } = request;
    this.#outstanding.remove(request.group);
    this.#ledger.dropped(domain, "unscored", unscored.length);
    if (group.dropped === undefined) {
      const trained = trainedMembers(group);
      const tokens = trained.reduce((n, { rollout }) => n + sampledTokens(rollout), 0);
      this.#ledger.trained(domain, trained.length, tokens);
      this.#ledger.dropped(domain, "overlong", group.rollouts.length - trained.length);
    } else this.#ledger.dropped(domain, group.dropped, group.rollouts.length);
    this.#parts.events.settled(settled, this.#step);
    this.#parts.onSettled?.(settled, this.#step);
  }

  /** The step that takes the next batch. */
  get step(): number {
    return this.#step;
  }

  /** A step's batch is complete: groups settled from now on belong to the next step. */
  batched(): void {
    this.#step += 1;
  }

  /** Records a finished step and its `replayed` groups. Throws HONE_ERR_INTERNAL for a lost rollout. */
  trained(credits: number, replayed: readonly SettledGroup[] = []): void {
    for (const one of replayed) this.#ledger.replayed(one.request.domain, trainedMembers(one.group).length);
    this.check();
    this.credits.give(credits);
  }

  /** Checks that no rollout was lost or counted twice (Ledger.check). */
  check(): void {
    this.#ledger.check(this.#outstanding);
  }

  /** Groups between submission and training. */
  get outstanding(): number {
    return this.#outstanding.size;
  }

  get generatedTokens(): number {
    return this.#generatedTokens;
  }

  get trainedTokens(): number {
    return this.#ledger.trainedTokens;
  }

  /** The groups that the next step must take (OutstandingGroups.due). */
  due(maxLag: number, groupsPerStep: number): readonly GroupRequest[] {
    return this.#outstanding.due(this.#parts.version(), maxLag, groupsPerStep);
  }

  /** Number of the first due group that the caller does not have yet (OutstandingGroups.firstDue). */
  firstDue(maxLag: number, groupsPerStep: number, here: Here): number | undefined {
    return this.#outstanding.firstDue(this.#parts.version(), maxLag, groupsPerStep, here);
  }

  mixture(): StepFacts["mixture"] {
    const targets = this.#targets();
    const shares = this.#trainedMixture?.shares(this.#ledger.progress(this.#outstanding));
    const factor = (share: number, target: number) => (target === 0 ? 0 : share / target);
    const factors =
      shares && new Map([...shares].map(([domain, share]) => [domain, factor(share, targets.get(domain)!)]));
    return {
      targets: Object.fromEntries(targets),
      probabilities: Object.fromEntries(shares ?? this.#sampler.probabilities()),
      adjustments: Object.fromEntries(factors ?? this.#sampler.adjustments()),
      counts: this.#ledger.counts(this.#outstanding),
    };
  }

  #targets(): Map<DomainName, number> {
    return new Map([...this.#sampler.mixture()].map(([domain, { target }]) => [domain, target]));
  }

  saved(): SavedAccounting {
    const sampler = this.#sampler.getState();
    const counts: Record<DomainName, number> = { ...sampler.completed };
    for (const { request, completed, failed } of this.#outstanding)
      counts[request.domain]! -= completed + failed;
    return {
      sampler: { ...sampler, completed: counts },
      ledger: this.#ledger.saved(this.#outstanding),
      outstanding: this.#outstanding.saved(),
      generatedTokens: this.#generatedTokens,
    };
  }
}

/** Builds the object field by field: a spread would give every group its own hidden class in V8. */
function requested(
  drawn: DrawnGroup,
  submittedVersion: number,
  submittedMs: number,
  begun: GroupRequest["begun"],
): GroupRequest {
  const { group, domain, index, problem, attempts, again } = drawn;
  if (again === undefined && begun === undefined)
    return { group, domain, index, problem, attempts, submittedVersion, submittedMs };
  return { ...drawn, submittedVersion, submittedMs, ...(begun && { begun }) };
}
