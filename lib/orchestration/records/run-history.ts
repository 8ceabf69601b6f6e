import { HoneError } from "../../errors.ts";
import type { DomainName } from "../../records.ts";
import type { LoggedRollout, RunEvent } from "./event-log.ts";

export type GroupEvent = Extract<RunEvent, { e: "group" }>;
export type StepEvent = Extract<RunEvent, { e: "step" }>;

export interface LoggedStep {
  readonly event: StepEvent;
  readonly groups: readonly GroupEvent[];
}

/** A run reconstructed from its log, without the steps that a resume discarded. */
export interface RunHistory {
  readonly steps: readonly LoggedStep[];
  /** Steps in order, one stretch per recipe; `recipe` is undefined if the log does not record it. */
  readonly stretches: readonly { readonly recipe: unknown; readonly steps: readonly LoggedStep[] }[];
  /** Source of each group's problem. */
  readonly drawn: ReadonlyMap<number, { readonly domain: DomainName; readonly index: number }>;
  /** Hash of the final weights, if the run reached its last step. */
  readonly weights?: string;
}

/** Orders the log's events. A resumed run discards the steps after its checkpoint, and the groups of these steps. */
export function readHistory(events: readonly RunEvent[]): RunHistory {
  const steps: { event: StepEvent; groups: GroupEvent[]; recipe: unknown }[] = [];
  const drawn = new Map<number, { domain: DomainName; index: number }>();
  let pending: GroupEvent[] = [];
  let weights: string | undefined;
  let recipe: unknown;
  for (const event of events) {
    if (event.e === "submit") drawn.set(event.g, { domain: event.d, index: event.i });
    else if (event.e === "group") pending.push(event);
    else if (event.e === "note") continue;
    else if (event.e === "end") weights = event.w;
    else if (event.e === "start") recipe = event.c;
    else if (event.e === "step") {
      steps.push({ event, groups: pending, recipe });
      pending = [];
    } else {
      while (steps.length > 0 && steps.at(-1)!.event.s >= event.s) steps.pop();
      pending = [];
      weights = undefined;
      recipe = event.c ?? recipe;
    }
  }
  return { steps, stretches: stretchesOf(steps), drawn, ...(weights !== undefined && { weights }) };
}

function stretchesOf(steps: readonly (LoggedStep & { readonly recipe: unknown })[]): RunHistory["stretches"] {
  const stretches: { recipe: unknown; text: string | undefined; steps: LoggedStep[] }[] = [];
  for (const step of steps) {
    const text = JSON.stringify(step.recipe);
    if (stretches.length === 0 || stretches.at(-1)!.text !== text)
      stretches.push({ recipe: step.recipe, text, steps: [] });
    stretches.at(-1)!.steps.push(step);
  }
  return stretches;
}

/** Advantages that a hook set in a step, by group. */
export const hookAdvantages = ({ a = [] }: StepEvent): Map<number, readonly number[]> =>
  new Map(a.map(([group, ...advantages]) => [group!, advantages]));

/**
 * Throws HONE_ERR_FORMAT naming a step or group that no run can have logged: its replay would wait forever for
 * weights that never come, or compare with data that the run did not produce.
 */
export function expectPlayable({ steps, drawn }: RunHistory, path: string): void {
  const refuse = (what: string) => {
    throw new HoneError("HONE_ERR_FORMAT", `${path}: ${what}`, {
      hint: "The log is incomplete or was altered; a replay needs all of it, from the first step on.",
    });
  };
  const seen = new Set<number>();
  const trained = new Set<number>();
  let version = 0;
  for (const [i, { event, groups }] of steps.entries()) {
    if (event.s !== i) refuse(`it has step ${event.s} where step ${i} belongs`);
    for (const group of groups) {
      if (seen.has(group.g)) refuse(`group ${group.g} occurs twice`);
      seen.add(group.g);
      if (!drawn.has(group.g)) refuse(`group ${group.g} was never submitted`);
      if (group.j !== undefined && group.j.length !== group.r.length)
        refuse(`group ${group.g} has ${group.r.length} rollouts and ${group.j.length} verdicts`);
      const bad = group.r.length === 0 || group.r.some((r, a) => !isPlausible(r, a, version));
      if (bad) refuse(`group ${group.g} has rollouts that no run up to version ${version} can have made`);
    }
    const kept = groups.flatMap(({ g, x }) => (x === undefined ? [g] : [])).sort((a, b) => a - b);
    if (kept.join() !== event.k.join()) refuse(`step ${i} trained groups ${event.k}, but ${kept} were kept`);
    const unknown = event.b?.find((group) => !trained.has(group));
    if (unknown !== undefined)
      refuse(`step ${i} trained group ${unknown} again, which no step before it did`);
    for (const group of kept) trained.add(group);
    for (const [group, advantages] of hookAdvantages(event)) {
      const judged = groups
        .find(({ g, x }) => g === group && x === undefined)
        ?.j?.filter((one) => one !== null);
      if (judged?.length !== advantages.length)
        refuse(
          `step ${i} has ${advantages.length} advantages for group ${group}, which has ${judged?.length ?? 0}`,
        );
    }
    if (event.v !== version && event.v !== version + 1)
      refuse(`step ${i} leads from version ${version} to version ${event.v}`);
    version = event.v;
  }
}

/** Checks attempt a of its group: its tokens' versions must be ascending and must exist. */
function isPlausible([attempt, tokens, , ...runs]: LoggedRollout, a: number, newest: number): boolean {
  const starts = runs.filter((_, i) => i % 2 === 0);
  const versions = runs.filter((_, i) => i % 2 === 1);
  const ascends = (list: readonly number[]) => list.every((n, i) => i === 0 || n > list[i - 1]!);
  return (
    attempt === a &&
    starts.length === versions.length &&
    starts[0] === 0 &&
    starts.at(-1)! < tokens &&
    ascends(starts) &&
    ascends(versions) &&
    versions.at(-1)! <= newest
  );
}
