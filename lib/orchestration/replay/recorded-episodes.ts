import type { Partner, Play } from "../../episodes/index.ts";
import type { VersionRun } from "../../native/face.ts";
import type { DomainName, Verdict } from "../../records.ts";
import type { EpisodeStage } from "../pipeline/index.ts";
import type { GroupEvent, LoggedEpisode, LoggedRollout } from "../records/index.ts";

/** Sampled tokens of a turn in the whole rollout, [begin, end). */
type Span = readonly [begin: number, end: number];

/** Token spans of the turns; an ordinary rollout is one turn. */
function spansOf(tokens: number, episode: LoggedEpisode | null | undefined): Span[] {
  const given = episode?.o.map(([at, ...ids]) => [at!, at! + ids.length] as const) ?? [];
  const begins = [0, ...given.map(([, end]) => end)];
  return begins.map((begin, turn) => [begin, given[turn]?.[0] ?? tokens]);
}

/**
 * Version runs of one turn, counted from its first token. @param takenUp indices of tokens before which all keys were
 * recomputed
 */
function planOf(
  [, , , ...runs]: LoggedRollout,
  takenUp: readonly number[],
  [begin, end]: Span,
): VersionRun[] {
  const plan: VersionRun[] = [];
  for (let i = 0; i < runs.length; i += 2) {
    const [from, until] = [Math.max(begin, runs[i]!), Math.min(end, runs[i + 2] ?? end)];
    const version = runs[i + 1]!;
    const later = takenUp.filter((at) => at > from && at < until);
    for (const at of from < until ? [from, ...later] : [])
      plan.push({ fromToken: at - begin, version, ...(takenUp.includes(at) && { anew: true }) });
  }
  return plan;
}

const resumedIn = ({ t }: GroupEvent, attempt: number): number[] =>
  t?.find(([which]) => which === attempt)?.slice(1) ?? [];

/** One list of weight versions per attempt, for the attempt's first turn. */
export function firstTurnPlans(group: GroupEvent): VersionRun[][] {
  return group.r.map((rollout, i) =>
    planOf(rollout, resumedIn(group, rollout[0]), spansOf(rollout[1], group.o?.[i])[0]!),
  );
}

const AS_IT_WAS: Verdict = { status: "unscored", cause: "as it was in the run" };

/** Replays the observations of a recorded episode, without calling the environment. */
function recordedPartner({ f, c, o }: LoggedEpisode): Partner {
  return {
    toolCalls: c,
    answer: async ({ turn }) => {
      const given = o[turn];
      return given === undefined ? { over: f } : { given: Int32Array.from(given.slice(1)) };
    },
    verdict: async () => AS_IT_WAS, // replaced by the logged verdict
  };
}

/**
 * Episodes of a recorded run. A turn reaches the engine after the previous one ends, and the engine takes newer
 * weights when no request needs the old ones: a caller that publishes new weights must wait for `submitted` first.
 */
export class RecordedEpisodes implements EpisodeStage {
  readonly plays: ReadonlyMap<DomainName, Play>;
  readonly #logged: ReadonlyMap<number, GroupEvent>;
  /**
   * Turns that the engine has not received yet, by group: a map from attempt and turn to the version that the turn
   * begins with.
   */
  readonly #due = new Map<number, Map<string, number>>();
  #waiting: { readonly version: number; readonly go: () => void } | undefined;

  constructor(plays: ReadonlyMap<DomainName, Play>, logged: ReadonlyMap<number, GroupEvent>) {
    this.plays = plays;
    this.#logged = logged;
    for (const { g, r, o = [] } of logged.values()) {
      const due = new Map<string, number>();
      for (const [i, episode] of o.entries()) {
        const spans = episode === null ? [] : spansOf(r[i]![1], episode);
        for (const [turn, span] of spans.entries())
          if (turn > 0) due.set(`${r[i]![0]} ${turn}`, planOf(r[i]!, [], span)[0]!.version);
      }
      if (due.size > 0) this.#due.set(g, due);
    }
  }

  partnerOf(_: Play, { group }: { readonly group: number }, attempt: number): Partner {
    return recordedPartner(this.#of(group, attempt).episode);
  }

  planOf({ group }: { readonly group: number }, attempt: number): (turn: number) => VersionRun[] {
    const { rollout, episode, takenUp } = this.#of(group, attempt);
    const spans = spansOf(rollout[1], episode);
    return (turn) => planOf(rollout, takenUp, spans[turn]!);
  }

  onTurn({ group }: { readonly group: number }, attempt: number, turn: number): void {
    this.#due.get(group)?.delete(`${attempt} ${turn}`);
    this.#look();
  }

  /** Stops waiting for further turns of a finished group, even if it had fewer than the run recorded. */
  over(group: number): void {
    this.#due.delete(group);
    this.#look();
  }

  /** Resolves when the engine has every turn that begins with this version or an older one. */
  submitted(version: number): Promise<void> {
    return new Promise((go) => {
      this.#waiting = { version, go };
      this.#look();
    });
  }

  #look(): void {
    if (this.#waiting === undefined) return;
    const { version, go } = this.#waiting;
    for (const due of this.#due.values()) for (const begins of due.values()) if (begins <= version) return;
    this.#waiting = undefined;
    go();
  }

  #of(group: number, attempt: number) {
    const logged = this.#logged.get(group)!;
    const i = logged.r.findIndex(([number]) => number === attempt);
    const episode: LoggedEpisode = logged.o?.[i] ?? { f: "stop", c: 0, o: [] };
    return { rollout: logged.r[i]!, episode, takenUp: resumedIn(logged, attempt) };
  }
}
