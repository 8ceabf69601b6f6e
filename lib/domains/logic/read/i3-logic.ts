import { z } from "zod";
import { ProceduralSource } from "../../../data/procedural-source.ts";
import {
  type DatasetOptions,
  fill,
  isBad,
  type RowReader,
  readFields,
  readJson,
} from "../../../data/row-reader.ts";
import { askedIn } from "../../columns.ts";
import { asFamily } from "../drawing/puzzle.ts";
import { TASKS } from "../tasks.ts";

/**
 * The 29 puzzle types that are kept by default: SynLogic's games without buggy_tables and the three dyck
 * tasks.
 */
export const I3_LOGIC_TASKS: readonly string[] = TASKS.filter((task) => !task.startsWith("dyck_"));

export interface LogicOptions extends DatasetOptions {
  /** Tasks to keep. Default: I3_LOGIC_TASKS. */
  readonly tasks?: readonly string[] | undefined;
  /** Keeps rows whose published solve rate is in [low, high], and rows without one. Default: all. */
  readonly solveRate?: readonly [low: number, high: number] | undefined;
}

const gameSchema = z.object({
  question: z.string().trim().min(1),
  answer: z.unknown(),
  difficulty: z.number().nullish(),
});
const infoSchema = z.object({
  task: z.string().min(1),
  game_data: z.unknown().optional(),
  game_data_str: z.string().nullish(),
});
const SOLVE_RATE = "avg@16_qwen3_4b_instruct_2507";
const rowSchema = z.object({
  question: z.string().nullish(),
  info: z.union([z.string(), infoSchema]).nullish(),
  [SOLVE_RATE]: z.number().nullish(),
  data_source: z.string().nullish(),
  prompt: z.unknown().optional(),
  extra_info: z.looseObject({ game_data_str: z.string().optional() }).nullish(),
});

/**
 * INTELLECT-3-RL, `logic`: puzzles whose verifier data are in `info`, as a JSON string; or rows that are that object
 * itself. The reference is { task, game_data_str } or { task, game_data } as found. Also reads SynLogic's own rows:
 * `prompt`, `data_source` and `extra_info.game_data_str`.
 * Source: data set cards PrimeIntellect/INTELLECT-3-RL and MiniMaxAI/SynLogic.
 */
export const i3Logic: RowReader<LogicOptions> = {
  domain: "logic",
  verifier: "logic",
  options: {
    tasks: z.array(z.string().min(1)).min(1).optional(),
    solveRate: z.tuple([z.number(), z.number()]).optional(),
  },
  samples: { file: "train.jsonl", rows: sampleRows },
  columns: Object.keys(rowSchema.shape),
  open({ template = "{task}", tasks = I3_LOGIC_TASKS, solveRate }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const info = infoOf(row, value);
      if (isBad(info)) return info;
      if (!tasks.includes(info.task)) return { leftOut: `task ${info.task.slice(0, 60)}` };
      const rate = row[SOLVE_RATE];
      if (solveRate && typeof rate === "number" && !(rate >= solveRate[0] && rate <= solveRate[1])) {
        return { leftOut: "solve rate outside the wanted range" };
      }
      const { game_data, game_data_str } = info;
      const game =
        typeof game_data_str === "string"
          ? readJson(gameSchema, game_data_str, "game_data_str")
          : readFields(gameSchema, game_data, "game_data");
      if (isBad(game)) return game;
      const asked = row.prompt === undefined ? undefined : askedIn({ prompt: row.prompt });
      const task = row.question?.trim() || (asked && !isBad(asked) && asked.task) || game.question;
      return {
        content: task,
        question: fill(template, task),
        family: info.task,
        level: Math.max(0, Math.round(game.difficulty ?? 0)),
        reference: {
          task: info.task,
          ...(typeof game_data_str === "string" ? { game_data_str } : { game_data }),
        },
        gold: () => answerForms(game.answer),
      };
    };
  },
};

/** In SynLogic's own rows, which have verl's form, `data_source` names the game. */
function infoOf({ info, data_source: source, extra_info: extra }: z.infer<typeof rowSchema>, value: unknown) {
  if (typeof info === "string") return readJson(infoSchema, info, "info");
  const json = extra?.game_data_str;
  if (info || json === undefined) return readFields(infoSchema, info ?? value, "info");
  const task = (source ?? "")
    .replace(/^.*[/.]/, "")
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
  return readFields(infoSchema, { task, game_data_str: json }, "extra_info");
}

/** The stored answer in every form that a game may request; empty if the row stores none. */
function answerForms(answer: unknown): readonly string[] {
  const text = typeof answer === "string" ? answer.trim() : answer == null ? "" : JSON.stringify(answer);
  if (text === "") return [];
  const rows = Array.isArray(answer) && answer.every(Array.isArray) ? answer.map((row) => row.join(" ")) : [];
  return [
    text,
    `\\boxed{${text}}`,
    `\`\`\`python\n${text}\n\`\`\``,
    `[[${text}]]`,
    `The answer is **${text}**.`,
    `The answer is ${text}.`,
    ...(rows.length > 0 ? [`[[${rows.join(",")}]]`] : []),
  ];
}

/** Puzzles of our own in the published shape. */
async function sampleRows(): Promise<unknown[]> {
  const { PUZZLES } = await import("../puzzles.ts");
  const known = PUZZLES.filter(({ task }) => I3_LOGIC_TASKS.includes(task));
  const source = new ProceduralSource(known.map(asFamily), 0, 0);
  return Array.from({ length: 5 }, (_, i) => {
    const { question, reference } = source.problem(i);
    return { question, info: JSON.stringify(reference) };
  });
}
