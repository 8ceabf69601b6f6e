import { z } from "zod";
import { HoneError } from "../../errors.ts";
import type { ScoredVerdict } from "../../records.ts";
import { checkedReference } from "../checked.ts";
import { compatField, type JudgedTwoWays } from "../compat.ts";
import { finalResponse } from "../final-response.ts";
import { noAnswer, unparsable, type Verifier } from "../verifier.ts";
import { FACTS } from "./facts.ts";
import { GAMES } from "./games.ts";
import type { Game } from "./judging/game.ts";

const MAX_ANSWER_CHARS = 1 << 20;

/** Rules in which strict and reference judging differ. */
interface Rules {
  /** The part of a completion that the game gets. */
  responseOf(completion: string): string;
  judge(game: Game, answer: string, data: unknown): ScoredVerdict;
}

const RULES: JudgedTwoWays<Rules> = {
  strict: { responseOf: finalResponse, judge: (game, answer, data) => game.judge(answer, data) },
  reference: {
    responseOf: (completion) => completion,
    judge: (game, answer, data) => (game.judgeAsReference ?? game.judge)(answer, data),
  },
};

const referenceSchema = z.object({
  task: z.string(),
  game_data: z.unknown().optional(),
  game_data_str: z.string().optional(),
  compat: compatField,
});

export interface LogicReference {
  readonly game: Game;
  readonly data: unknown;
  readonly rules: Rules;
}

const BY_TASK: ReadonlyMap<string, Game> = new Map(GAMES.map((game) => [game.task, game]));

/**
 * The logic puzzles, one game per file in games/. The reference is { task, game_data | game_data_str, compat? } as in
 * a row's `info`: game_data = { question, answer, metadata, ... }, game_data_str the same as JSON; strict by default.
 * Most games judge by the puzzle's rules, some by the stored answer; each says which. Strict reads the text after the
 * thought (final-response.ts); reference passes the whole completion to the game, as PipelineRL does. No code in an
 * answer is ever executed.
 * Source: INTELLECT-3-RL `logic` rows, judged by i3-logic's verifiers of the SynLogic games.
 */
export const logic: Verifier<LogicReference> = {
  ...FACTS.logic,

  parseReference(raw) {
    const shape = "{ task, game_data | game_data_str, compat? }";
    const fields = checkedReference(referenceSchema, raw, "logic", shape);
    const { task, game_data, game_data_str, compat } = fields;
    const game = BY_TASK.get(task);
    if (!game) {
      throw new HoneError("HONE_ERR_DATA", `logic: no game is called ${JSON.stringify(task.slice(0, 80))}`, {
        hint: `Known: ${[...BY_TASK.keys()].sort().join(", ")}.`,
      });
    }
    return { game, data: game.parse(game_data ?? parseJson(task, game_data_str)), rules: RULES[compat] };
  },

  verify({ text }, { game, data, rules }) {
    const answer = rules.responseOf(text);
    if (answer.trim() === "") return noAnswer("blank answer");
    if (answer.length > MAX_ANSWER_CHARS) return unparsable(`answer over ${MAX_ANSWER_CHARS} characters`);
    return rules.judge(game, answer, data);
  },
};

function parseJson(task: string, text: string | undefined): unknown {
  if (text === undefined) {
    throw new HoneError("HONE_ERR_DATA", `logic: ${task}: neither game_data nor game_data_str`);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `logic: ${task}: game_data_str is no JSON: ${String(cause)}`, {
      cause,
    });
  }
}
