import type { GenerationRequest, VersionRun } from "../native/face.ts";
import type { Completion, Generations } from "../native/generations.ts";
import { RouteBuffer } from "../native/routes.ts";
import type { Episode, FinishReason } from "../records.ts";
import type { PromptFormat } from "../text/index.ts";
import type { Partner, Play } from "./partner.ts";

/** First id of the requests of later turns: above any that a caller chooses for the first turn. */
const FIRST_ID = 2 ** 40;
let requests = 0;

/** One attempt at an episode. */
export interface EpisodeTask {
  /** Template of the first turn's request; each turn sets its own `count`, `id` and `plan`. */
  readonly request: Omit<GenerationRequest, "plan">;
  /** Tokens of all turns together, observations included. */
  readonly maxTokens: number;
  readonly attempt: number;
  readonly partner: Partner;
  /** In a replay: the weight versions that each turn is sampled with. */
  readonly plan?: ((turn: number) => readonly VersionRun[]) | undefined;
  /** Called when the engine has the request of a turn after the first. */
  readonly onTurn?: ((turn: number) => void) | undefined;
}

/** A whole episode as one completion, with its turns and observations. */
export interface PlayedEpisode {
  readonly completion: Completion;
  readonly text: string;
  readonly textless: number;
  readonly episode: Episode;
}

/** Engine that samples the policy's turns. */
type Asked = Pick<Generations, "generate">;

/** Most tokens of a turn when `left` tokens of the episode remain. */
export const turnBudget = (
  { maxTurnTokens = Number.POSITIVE_INFINITY }: Pick<Play, "maxTurnTokens">,
  left: number,
): number => Math.min(maxTurnTokens, left);

/**
 * Continues an episode from its first turn. Each further turn is a request whose prompt consists of exactly the ids
 * sampled and observed so far, so nothing is encoded twice; a token's randomness is keyed by its position in the
 * whole sequence and continues where the previous turn ended.
 * Rejects with the engine's error; never settles if the generations are abandoned.
 */
export async function playEpisode(
  first: Completion,
  task: EpisodeTask,
  play: Pick<Play, "maxTurns" | "maxTurnTokens">,
  { generations, format }: { readonly generations: Asked; readonly format: PromptFormat },
): Promise<PlayedEpisode> {
  const course = new Course(task.request.prompt, first);
  const end = await courseToEnd(course, task, play, generations);
  const verdict = await task.partner.verdict(end, course.turns);
  const completion = course.whole(first, end);
  const { texts, textless } = format.readParts(course.parts.map(idsOf));
  const { toolCalls } = task.partner;
  const episode = { ...course.given(texts), turns: course.turns, toolCalls, verdict };
  return { completion, text: texts.join(""), textless, episode };
}

async function courseToEnd(
  course: Course,
  { request, maxTokens, attempt, partner, plan, onTurn }: EpisodeTask,
  play: Pick<Play, "maxTurns" | "maxTurnTokens">,
  generations: Asked,
): Promise<FinishReason> {
  for (;;) {
    const { tokens, finish } = course.last;
    if (finish === "abort") return "abort";
    if (finish === "length" && course.length >= maxTokens) return "length";
    const ended = request.stopIds.includes(tokens.at(-1) ?? -1) ? tokens.at(-1) : undefined;
    const reply = await partner.answer({ turn: course.turns - 1, tokens, ended });
    if ("over" in reply) return reply.over ?? (finish === "length" ? "stop" : finish);
    if (course.turns >= play.maxTurns) return "turns";
    if (course.length + reply.given.length >= maxTokens) return "length";
    course.give(reply.given);
    const turn = course.turns;
    const sampled = generations.generate({
      ...request,
      id: FIRST_ID + requests++,
      prompt: course.soFar(),
      count: 1,
      firstAttempt: attempt,
      maxTokens: turnBudget(play, maxTokens - course.length),
      ...(plan && { plan: [plan(turn)] }),
    });
    onTurn?.(turn);
    course.said((await sampled)[0]!);
  }
}

/** A sampled turn, or an observation between two turns. */
type Part = Completion | Int32Array;

const idsOf = (part: Part): Int32Array => (part instanceof Int32Array ? part : part.tokens);

/** Tokens sampled and given so far. */
class Course {
  readonly #prompt: Int32Array;
  readonly parts: Part[] = [];
  turns = 0;
  length = 0;

  constructor(prompt: Int32Array, first: Completion) {
    this.#prompt = prompt;
    this.said(first);
  }

  get last(): Completion {
    return this.parts.at(-1) as Completion;
  }

  said(turn: Completion): void {
    this.parts.push(turn);
    this.turns += 1;
    this.length += turn.tokens.length;
  }

  give(ids: Int32Array): void {
    this.parts.push(ids);
    this.length += ids.length;
  }

  soFar(): Int32Array {
    const all = new Int32Array(this.#prompt.length + this.length);
    all.set(this.#prompt);
    this.#each((part, at) => {
      all.set(idsOf(part), this.#prompt.length + at);
    });
    return all;
  }

  whole({ request, attempt }: Completion, finish: FinishReason): Completion {
    const [tokens, logprobs, entropies] = [
      this.soFar().subarray(this.#prompt.length),
      new Float32Array(this.length),
      new Float32Array(this.length),
    ];
    const [versions, oldestKvVersions] = [new Uint32Array(this.length), new Uint32Array(this.length)];
    const routes = new RouteBuffer();
    this.#each((part, at, next) => {
      if (part instanceof Int32Array) {
        // the policy reads an observation for the next turn, with the weights that sampled that turn's first
        // token
        versions.fill(next!.versions[0]!, at, at + part.length);
        oldestKvVersions.fill(next!.versions[0]!, at, at + part.length);
        return;
      }
      logprobs.set(part.logprobs, at);
      entropies.set(part.entropies, at);
      versions.set(part.versions, at);
      oldestKvVersions.set(part.oldestKvVersions, at);
      if (part.routes !== undefined) routes.add(part.routes); // the versions cover the whole sequence up to this turn, because its keys were computed anew
    });
    const all = routes.from(0);
    const arrays = { tokens, logprobs, entropies, versions, oldestKvVersions, ...(all && { routes: all }) };
    return { request, attempt, ...arrays, finish };
  }

  /** @param texts of the parts. */
  given(texts: readonly string[]): Pick<Episode, "given" | "givenText"> {
    const given = new Uint8Array(this.length);
    const givenText: number[] = [];
    let begin = 0;
    let i = 0;
    this.#each((part, at) => {
      const end = begin + texts[i++]!.length;
      if (part instanceof Int32Array) {
        given.fill(1, at, at + part.length);
        givenText.push(begin, end);
      }
      begin = end;
    });
    return { given, givenText };
  }

  #each(visit: (part: Part, at: number, next: Completion | undefined) => void): void {
    let at = 0;
    for (const [i, part] of this.parts.entries()) {
      visit(part, at, this.parts[i + 1] as Completion | undefined);
      at += idsOf(part).length;
    }
  }
}
