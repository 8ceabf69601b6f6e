/** Composition of a model's reasoning: traces divided into steps, each with a category, counted before and after. */
export { CATEGORIES, type Category, DEFINITIONS, type Step } from "./categories.ts";
export type { Grade } from "./hand.ts";
export { type Graded, gradeOnHand, type Look, type LookOptions, lookAtTraces } from "./look.ts";
export type { Estimate, Measure, TraceMeasures } from "./measure.ts";
export { stepsOf } from "./split.ts";
export type { CaptionedTable } from "./tables.ts";
