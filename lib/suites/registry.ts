import type { DatasetKind } from "../domains/index.ts";
import { boxedAnswer, chosenLetter } from "./final-answers.ts";
import type { Suite } from "./suite.ts";

/** A published suite: its data, and how answers are extracted and counted. Its prompt and verifier are the data set's. */
export interface SuiteRow extends Partial<Pick<Suite, "metric" | "answer" | "levels">> {
  readonly dataset: DatasetKind;
  /** Name of the published set on the Hub, for people who have to fetch it. */
  readonly published: string;
  /** For a folder: only files whose name begins with `split` are read. */
  readonly split?: string;
  /** For a folder that contains several data sets: the subfolder, or the file, of this suite's set. */
  readonly set?: string;
}

const MATH_LEVELS = ["1", "2", "3", "4", "5"];

/** Every suite that `--suite` knows by name; add a new one as a row here, or as a user module (docs/how-to/write-a-suite.md). */
export const SUITES: Readonly<Record<string, SuiteRow>> = {
  aime25: { dataset: "aime", published: "MathArena/aime_2025", answer: boxedAnswer },
  "gpqa-diamond": {
    dataset: "gpqa",
    published: "Idavidrein/gpqa",
    set: "gpqa_diamond",
    answer: chosenLetter,
  },
  "mmlu-pro": { dataset: "mmlu-pro", published: "TIGER-Lab/MMLU-Pro", split: "test", answer: chosenLetter },
  livecodebench: {
    dataset: "live-code-bench",
    published: "livecodebench/code_generation_lite",
    levels: ["easy", "medium", "hard"],
  },
  math500: {
    dataset: "math-500",
    published: "HuggingFaceH4/MATH-500",
    answer: boxedAnswer,
    levels: MATH_LEVELS,
  },
  ifeval: { dataset: "ifeval", published: "google/IFEval" },
  ifbench: { dataset: "ifeval", published: "allenai/IFBench_test" },
  "bfcl-v4": { dataset: "bfcl", published: "gorilla-llm/Berkeley-Function-Calling-Leaderboard" },
  humaneval: { dataset: "human-eval", published: "openai/openai_humaneval" },
  mbpp: { dataset: "mbpp", published: "google-research-datasets/mbpp", split: "test", set: "full" },
  gsm8k: { dataset: "gsm8k", published: "openai/gsm8k", split: "test", set: "main", answer: boxedAnswer },
};
