import { setMaxListeners } from "node:events";
import {
  EnvironmentPartner,
  type Partner,
  type Play,
  type PlayedEpisode,
  playEpisode,
} from "../../episodes/index.ts";
import type { GenerationRequest, VersionRun } from "../../native/face.ts";
import type { Completion, Generations } from "../../native/generations.ts";
import type { DomainName } from "../../records.ts";
import type { PromptFormat } from "../../text/index.ts";
import type { GroupRequest } from "./group-request.ts";

/** Plays the groups of multi-turn domains. */
export interface EpisodeStage {
  readonly plays: ReadonlyMap<DomainName, Play>;
  partnerOf(play: Play, request: GroupRequest, attempt: number): Partner;
  /** Replay: the versions that each turn of an attempt is to be sampled with. */
  readonly planOf?: (request: GroupRequest, attempt: number) => (turn: number) => readonly VersionRun[];
  /** Called when the engine has the request of an attempt's second or a later turn. */
  readonly onTurn?: (request: GroupRequest, attempt: number, turn: number) => void;
}

/** Plays episodes in the recipe's environments. @param closing aborts when results are no longer awaited */
export function liveEpisodes(
  plays: EpisodeStage["plays"],
  format: PromptFormat,
  closing: AbortSignal,
): EpisodeStage {
  const turns = plays.size === 0 ? undefined : format.turns();
  setMaxListeners(0, closing); // every environment call adds a listener
  return {
    plays,
    partnerOf: (play, { problem }) =>
      new EnvironmentPartner({ play, problem, format, turns: turns!, closing }),
  };
}

interface Begun {
  readonly play: Play;
  readonly stage: EpisodeStage;
  readonly request: GroupRequest;
  /** The request of the first turn of all attempts, with the token budget of the whole episode. */
  readonly asked: GenerationRequest;
}

/** Continues an attempt after its first turn. Rejects with the engine's failure. */
export function playAttempt(
  first: Completion,
  { play, stage, request, asked }: Begun,
  on: { readonly generations: Generations; readonly format: PromptFormat },
): Promise<PlayedEpisode> {
  const { attempt } = first;
  const { plan: _, begun: __, ...turn } = asked;
  const task = {
    request: turn,
    maxTokens: asked.maxTokens,
    attempt,
    partner: stage.partnerOf(play, request, attempt),
    plan: stage.planOf?.(request, attempt),
    onTurn: (number: number) => stage.onTurn?.(request, attempt, number),
  };
  return playEpisode(first, task, play, on);
}
