import { explain } from "./answers/explain.ts";
import { hints } from "./answers/hints.ts";
import { overview } from "./answers/overview.ts";
import { problem, problems } from "./answers/problems.ts";
import { recipe } from "./answers/recipe.ts";
import { sample } from "./answers/sample.ts";
import { samples } from "./answers/samples.ts";
import { series } from "./answers/series.ts";
import { summary } from "./answers/summary.ts";
import { guideRows } from "./guide.ts";
import type { Answer } from "./question.ts";

/** Every question by name. A panel that needs another one adds a file to answers/ and a row here. */
export const ANSWERS: Readonly<Record<string, Answer>> = {
  overview,
  series,
  summary,
  recipe,
  samples,
  sample,
  problems,
  problem,
  hints,
  explain,
  guide: () => guideRows(),
};
