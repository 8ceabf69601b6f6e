import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { AppendFile, wholeLines } from "../../metrics/index.ts";
import type { DomainName, DropReason, Rollout, ScoredVerdict } from "../../records.ts";
import type { GroupRequest, SettledGroup, StepOutcome } from "../pipeline/index.ts";
import { type LoggedEpisode, loggedEpisode, loggedEpisodeSchema } from "./logged-episode.ts";
import { versionRuns } from "./version-runs.ts";

/**
 * Events that a replay of an asynchronous run needs; everything else follows from the recipe and the seed. One JSON
 * array or object a line.
 */
export type RunEvent =
  /** A group went to the engine. */
  | {
      readonly e: "submit";
      readonly g: number;
      readonly d: DomainName;
      readonly i: number;
      readonly v: number;
    }
  /** A group left the pipeline at step s: it was trained, or, if x gives a reason, dropped. */
  | {
      readonly e: "group";
      readonly g: number;
      /** Absent in logs of older versions. */
      readonly s?: number;
      readonly x?: DropReason;
      readonly r: readonly LoggedRollout[];
      /** Verdict on each of `r`, null without one; absent in logs of versions before 0.2. */
      readonly j?: readonly LoggedVerdict[];
      /** Scores of each of several rewards for each of `r`, null without any; absent if none has any. */
      readonly p?: readonly (Readonly<Record<string, number>> | null)[];
      /**
       * Rewards that a hook set in place of the recipe's, one for each judged rollout of `r`; absent if no hook set
       * any.
       */
      readonly h?: readonly number[];
      /** Episodes among `r`, null for other rollouts; absent if there are none. */
      readonly o?: readonly (LoggedEpisode | null)[];
      /** Attempts without a verdict; only in logs that lack `j`. */
      readonly u?: readonly number[];
      /**
       * Resumed rollouts among `r`: [attempt, index, ...], the index of each token where sampling went on
       * from recomputed keys.
       */
      readonly t?: readonly (readonly number[])[];
    }
  /** A step trained (or, without kept groups, only counted) these groups and led to version v. */
  | {
      readonly e: "step";
      readonly s: number;
      readonly v: number;
      readonly k: readonly number[];
      readonly lr?: number;
      /** Advantages that a hook set, [group, one for each judged rollout, ...]; absent without such a hook. */
      readonly a?: readonly (readonly number[])[];
      /**
       * Groups of earlier steps that the step trained again from the replay buffer; absent if it trained none again.
       */
      readonly b?: readonly number[];
    }
  /** The recipe of the steps that follow. */
  | { readonly e: "start"; readonly c: unknown }
  /** The run was resumed from the checkpoint before step s, with recipe c. */
  | { readonly e: "resume"; readonly s: number; readonly c?: unknown }
  /**
   * A note for readers, which a replay ignores: an event that happened, or ended, when s steps were finished, at t
   * (ms since 1970).
   */
  | {
      readonly e: "note";
      readonly s: number;
      /** For an event with a duration: number of finished steps when the event began. */
      readonly f?: number;
      readonly t: number;
      readonly k: NoteKind;
      readonly m: string;
    }
  /** The weights at the end, by hash. */
  | { readonly e: "end"; readonly s: number; readonly v: number; readonly w: string };

export type NoteKind = "checkpoint" | "phase" | "pause" | "control" | "warning";

/** [attempt, tokens, hash, first token, version, first token, version, ...] */
export type LoggedRollout = readonly [attempt: number, tokens: number, hash: string, ...runs: number[]];

export type LoggedVerdict = readonly [status: ScoredVerdict["status"], score: number] | null;

const natural = z.int().min(0);
const status = z.enum(["correct", "partial", "wrong", "no_answer", "unparsable"]);
const eventSchema = z.discriminatedUnion("e", [
  z.object({ e: z.literal("submit"), g: natural, d: z.string(), i: natural, v: natural }),
  z.object({
    e: z.literal("group"),
    g: natural,
    s: natural.optional(),
    x: z.string().optional(),
    u: z.array(natural).optional(),
    r: z.array(z.tuple([natural, natural, z.string()], natural)),
    j: z.array(z.tuple([status, z.number()]).nullable()).optional(),
    p: z.array(z.record(z.string(), z.number()).nullable()).optional(),
    h: z.array(z.number()).optional(),
    o: z.array(loggedEpisodeSchema.nullable()).optional(),
    t: z.array(z.array(natural).min(2)).optional(),
  }),
  z.object({
    e: z.literal("step"),
    s: natural,
    v: natural,
    k: z.array(natural),
    lr: z.number().optional(),
    a: z.array(z.array(z.number()).min(1)).optional(),
    b: z.array(natural).optional(),
  }),
  z.object({
    e: z.literal("note"),
    s: natural,
    f: natural.optional(),
    t: z.number(),
    k: z.string(),
    m: z.string(),
  }),
  z.object({ e: z.literal("start"), c: z.unknown() }),
  z.object({ e: z.literal("resume"), s: natural, c: z.unknown().optional() }),
  z.object({ e: z.literal("end"), s: natural, v: natural, w: z.string() }),
]);

/** Appends events to a file, in memory until `flush`: one write a step. */
export class EventLog {
  readonly #file: AppendFile;
  /** Lines of groups and steps are formatted at the flush, since the trainer is waiting when they are added. */
  #lines: (string | (() => string))[] = [];

  /** With `append`, keeps existing lines except a torn last one. Throws HONE_ERR_IO. */
  constructor(path: string, append: boolean) {
    this.#file = told(() => new AppendFile(path, { fresh: !append }));
  }

  add(event: RunEvent): void {
    this.#lines.push(JSON.stringify(event));
  }

  submitted({ group, domain, index, submittedVersion }: GroupRequest): void {
    this.add({ e: "submit", g: group, d: domain, i: index, v: submittedVersion });
  }

  settled(settled: SettledGroup, step: number): void {
    this.#lines.push(() => JSON.stringify(groupEvent(settled, step)));
  }

  stepped(outcome: StepOutcome): void {
    this.#lines.push(() => JSON.stringify(stepEvent(outcome)));
  }

  /** Throws HONE_ERR_IO if the disk is full or the log was deleted. */
  flush(): void {
    if (this.#lines.length === 0 || !this.#file.isOpen) return;
    const lines = this.#lines.map((line) => `${typeof line === "string" ? line : line()}\n`).join("");
    this.#lines = [];
    told(() => this.#file.append(lines));
  }

  close(): void {
    this.flush();
    this.#file.close();
  }
}

function groupEvent({ request, group, rollouts, rewards }: SettledGroup, step: number): RunEvent {
  const episodes = rollouts.some(({ episode }) => episode !== undefined);
  const t = rollouts.map((r) => [r.attempt, ...resumedAt(r)]).filter(({ length }) => length > 1);
  const verdicts = new Map(group.rollouts.map(({ rollout, verdict }) => [rollout.attempt, verdict]));
  const parts = rollouts.map(({ attempt }) => verdicts.get(attempt)?.parts ?? null);
  return {
    e: "group",
    g: request.group,
    s: step,
    ...(group.dropped && { x: group.dropped }),
    r: rollouts.map((r) => [r.attempt, r.tokens.length, hashRollout(r), ...versionRuns(r.versions)] as const),
    j: rollouts.map(({ attempt }) => loggedVerdict(verdicts.get(attempt))),
    ...(parts.some((of) => of !== null) && { p: parts }),
    ...(rewards && { h: rewards }),
    ...(episodes && { o: rollouts.map((r) => (r.episode ? loggedEpisode(r, r.episode) : null)) }),
    ...(t.length > 0 && { t }),
  };
}

function stepEvent({ step, version, batch, update }: StepOutcome): RunEvent {
  const k = batch.groups
    .filter(({ group }) => group.dropped === undefined)
    .map(({ request }) => request.group);
  const a = batch.groups.flatMap(({ request, advantages }) =>
    advantages === undefined ? [] : [[request.group, ...advantages]],
  );
  const b = (batch.replayed ?? []).map(({ request }) => request.group);
  const rate = update && { lr: update.learningRate };
  return {
    e: "step",
    s: step,
    v: version,
    k,
    ...rate,
    ...(a.length > 0 && { a }),
    ...(b.length > 0 && { b }),
  };
}

function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { message, cause } = error as HoneError;
    const hint = "Without its event log a run cannot be replayed; free some space or choose another --dir.";
    throw new HoneError("HONE_ERR_IO", message, { cause, hint });
  }
}

const loggedVerdict = (verdict: ScoredVerdict | undefined): LoggedVerdict =>
  verdict === undefined ? null : [verdict.status, verdict.score];

/** Events of a run folder in order; a torn last line is left out. Throws HONE_ERR_IO, HONE_ERR_FORMAT naming the line. */
export function readEvents(path: string): RunEvent[] {
  const events: RunEvent[] = [];
  for (const line of wholeLines(path)) {
    const event = parseEvent(line);
    if (event === undefined)
      throw new HoneError(
        "HONE_ERR_FORMAT",
        `${path}:${events.length + 1}: not an event: ${line.slice(0, 80)}`,
      );
    events.push(event);
  }
  return events;
}

function parseEvent(line: string): RunEvent | undefined {
  try {
    return eventSchema.parse(JSON.parse(line)) as RunEvent;
  } catch {
    return undefined;
  }
}

/**
 * Indices of the tokens at which the version of the oldest key rises: the engine recomputed all keys there. A
 * recomputation under the weights that had computed them is not found, and changes nothing. The rise at an
 * episode's observation, where a turn begins, is left out.
 */
function resumedAt({ oldestKvVersions: oldest, episode }: Rollout): number[] {
  const at: number[] = [];
  for (let i = 1; i < oldest.length; i++) if (oldest[i]! > oldest[i - 1]! && !episode?.given[i]) at.push(i);
  return at;
}

/**
 * 64 bits of the tokens and the bits of their log-probs, as 16 hex digits: two lanes of multiply and xor-shift,
 * for telling equal from different, not against an adversary.
 */
export function hashRollout({ tokens, logprobs }: Pick<Rollout, "tokens" | "logprobs">): string {
  const bits = new Uint32Array(logprobs.buffer, logprobs.byteOffset, logprobs.length);
  let high = 0x9e3779b9 ^ tokens.length;
  let low = 0x85ebca6b;
  for (let i = 0; i < tokens.length; i++) {
    high = Math.imul(high ^ tokens[i]!, 0x85ebca77);
    high ^= high >>> 13;
    low = Math.imul(low ^ bits[i]!, 0xc2b2ae3d) ^ high;
    low ^= low >>> 16;
  }
  high = Math.imul(high ^ low, 0x27d4eb2f);
  const hex = (word: number) => (word >>> 0).toString(16).padStart(8, "0");
  return hex(high ^ (high >>> 15)) + hex(low);
}
