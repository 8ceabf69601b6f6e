import { overview } from "./answers/overview.ts";
import { recipe } from "./answers/recipe.ts";
import { series } from "./answers/series.ts";
import { verifiers } from "./answers/verifiers.ts";
import { guideRows } from "./guide.ts";
import type { Answer } from "./question.ts";

/** Loads an answer's module at its first request, since a page asks few of these questions. */
const later =
  (load: () => Promise<Answer>): Answer =>
  async (question) =>
    (await load())(question);

/** Every question by name. A panel that needs another one adds a file to answers/ and a row here. */
export const ANSWERS: Readonly<Record<string, Answer>> = {
  overview,
  series,
  recipe,
  verifiers,
  comparison: later(async () => (await import("./answers/comparison.ts")).comparison),
  summary: later(async () => (await import("./answers/summary.ts")).summary),
  samples: later(async () => (await import("./answers/samples.ts")).samples),
  groups: later(async () => (await import("./answers/groups.ts")).groups),
  sample: later(async () => (await import("./answers/sample.ts")).sample),
  problems: later(async () => (await import("./answers/problems.ts")).problems),
  "before-after": later(async () => (await import("./answers/before-after.ts")).beforeAfter),
  problem: later(async () => (await import("./answers/problems.ts")).problem),
  hints: later(async () => (await import("./answers/hints.ts")).hints),
  explain: later(async () => (await import("./answers/explain.ts")).explain),
  guide: () => guideRows(),
};
