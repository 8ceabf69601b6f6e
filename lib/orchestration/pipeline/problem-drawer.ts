import type { Recipe } from "../../config/index.ts";
import type { ProblemSource } from "../../data/index.ts";
import { HoneError } from "../../errors.ts";
import type { DomainName, Problem } from "../../records.ts";
import type { GroupAccounting } from "./group-accounting.ts";
import type { DrawnGroup, GroupRequest, SavedGroup } from "./group-request.ts";
import type { ProblemChooser, SavedChoices } from "./problem-chooser.ts";

/**
 * Positions of the problem sources. With them and the sampler's state, a resumed run draws the same problems as an
 * uninterrupted one.
 */
export interface SavedDraws {
  readonly nextGroup: number;
  /** Next index in each domain's source. */
  readonly cursors: Readonly<Record<DomainName, number>>;
  /** Number of problems skipped because they cannot be prompted, by domain. */
  readonly leftOut?: Readonly<Record<DomainName, number>> | undefined;
  /** States of the choosers, for domains with a curriculum. */
  readonly choices?: Readonly<Record<DomainName, SavedChoices>> | undefined;
}

export interface DrawerOptions {
  readonly groupSize: number;
  /** Returns why a problem cannot be prompted; the next one is drawn instead. Default: every problem can. */
  readonly faultOf?: (problem: Problem) => HoneError | undefined;
  readonly onLeftOut?: (problem: Problem, fault: HoneError) => void;
  /** Choosers of the domains that have a curriculum; problems of other domains are drawn in the order of their sources. */
  readonly choosers?: ReadonlyMap<DomainName, Pick<ProblemChooser, "next" | "saved">>;
}

/** Picks the domain of the next group. */
export interface DomainPicker {
  pick(): DomainName;
  /** The step that takes the next batch; required if a curriculum chooses. */
  readonly step?: number;
}

/** Drawing fails after this many consecutive problems that cannot be prompted. */
const MOST_LEFT_OUT = 1000;

/** Draws the next group's problem: its domain from the sampler, the problem from the domain's source in order. */
export class ProblemDrawer {
  readonly #sources: ReadonlyMap<DomainName, ProblemSource>;
  readonly #sampler: DomainPicker;
  readonly #options: DrawerOptions;
  readonly #leftOut: Map<DomainName, number>;
  readonly #cursors: Map<DomainName, number>;
  readonly #again: SavedGroup[];
  #nextGroup: number;

  /** @param saved state of the run to resume; its outstanding groups come first, under their old numbers */
  constructor(
    sources: ReadonlyMap<DomainName, ProblemSource>,
    sampler: DomainPicker,
    options: DrawerOptions,
    saved?: { readonly draws: SavedDraws; readonly outstanding: readonly SavedGroup[] },
  ) {
    const { draws, outstanding = [] } = saved ?? {};
    this.#sources = sources;
    this.#sampler = sampler;
    this.#options = options;
    this.#leftOut = new Map(Object.entries(draws?.leftOut ?? {}));
    this.#cursors = new Map([...sources.keys()].map((d) => [d, draws?.cursors[d] ?? 0]));
    this.#nextGroup = draws?.nextGroup ?? 0;
    this.#again = [...outstanding];
  }

  /** Number of groups drawn so far, not counting groups that a resumed run still has to submit again. */
  get drawn(): number {
    return this.#nextGroup - this.#again.length;
  }

  /** Throws HONE_ERR_DATA if a thousand problems in a row cannot be prompted. */
  next(): DrawnGroup {
    const again = this.#again.shift();
    if (again !== undefined) {
      const problem = this.#sources.get(again.domain)!.problem(again.index);
      return { ...this.#draw(again, problem), again: true };
    }
    const domain = this.#sampler.pick();
    const { index, problem } = this.#askable(domain);
    this.#nextGroup += 1;
    return this.#draw({ group: this.#nextGroup - 1, domain, index }, problem);
  }

  #draw({ group, domain, index }: SavedGroup, problem: Problem): DrawnGroup {
    return { group, domain, index, problem, attempts: this.#options.groupSize };
  }

  /** The next problem of the domain that can be prompted; counts skipped ones. */
  #askable(domain: DomainName): { readonly index: number; readonly problem: Problem } {
    const { faultOf, onLeftOut } = this.#options;
    for (let misses = 0; ; misses++) {
      const index = this.#nextIndex(domain);
      const problem = this.#sources.get(domain)!.problem(index);
      const fault = faultOf?.(problem);
      if (fault === undefined) return { index, problem };
      if (misses + 1 === MOST_LEFT_OUT) throw tooManyLeftOut(domain, fault);
      this.#leftOut.set(domain, (this.#leftOut.get(domain) ?? 0) + 1);
      onLeftOut?.(problem, fault);
    }
  }

  #nextIndex(domain: DomainName): number {
    const cursor = this.#cursors.get(domain)!;
    this.#cursors.set(domain, cursor + 1);
    return this.#options.choosers?.get(domain)?.next(this.#sampler.step ?? 0) ?? cursor;
  }

  /** Number of problems skipped since the run began, by domain; only domains that had any. */
  get leftOut(): Readonly<Record<DomainName, number>> {
    return Object.fromEntries(this.#leftOut);
  }

  /** Groups still to be submitted again, for the next checkpoint. */
  get again(): readonly SavedGroup[] {
    return this.#again;
  }

  saved(): SavedDraws {
    const { leftOut } = this;
    const cursors = Object.fromEntries(this.#cursors);
    const choosers = [...(this.#options.choosers ?? [])];
    const choices = Object.fromEntries(choosers.map(([domain, chooser]) => [domain, chooser.saved()]));
    return { nextGroup: this.#nextGroup, cursors, leftOut, ...(choosers.length > 0 && { choices }) };
  }
}

function tooManyLeftOut(domain: DomainName, fault: HoneError): HoneError {
  return new HoneError(
    "HONE_ERR_DATA",
    `${domain}: ${MOST_LEFT_OUT} problems in a row cannot be prompted; the last: ${fault.message}`,
    {
      cause: fault,
      hint: "Raise rollouts.maxPromptTokens, or give the domain another source.",
    },
  );
}

/**
 * Yields one request per credit, until the credits are closed or `limit` groups of the run are drawn. Draws a group
 * only after it has a credit, so that the sampler sees every earlier completion, and registers it with the accounting
 * immediately.
 */
export async function* drawProblems(
  drawer: ProblemDrawer,
  accounting: Pick<GroupAccounting, "submitted"> & {
    readonly credits: Pick<GroupAccounting["credits"], "take">;
  },
  limit: number,
): AsyncGenerator<GroupRequest, void, undefined> {
  while (drawer.drawn < limit && (await accounting.credits.take())) yield accounting.submitted(drawer.next());
}

/** Number of groups in the whole run if every completed group counts; unbounded if only kept groups do. */
export function mostGroups({ training: { steps, groupsPerStep, countGroups } }: Recipe): number {
  return countGroups === "completed" ? steps * groupsPerStep : Number.POSITIVE_INFINITY;
}
