/** Completions of a run: search, full details, statistics by problem. */
export { readCompletion } from "./answer.ts";
export {
  type BeforeAfter,
  type BeforeAfterProblem,
  type BeforeAfterQuery,
  beforeAfter,
  type HeldOutSaid,
} from "./before-after.ts";
export {
  CHANGE_KINDS,
  type ChangeKind,
  HINT_KINDS,
  type HintKind,
  ORDERS,
  type Order,
  PROBLEM_KINDS,
  PROBLEM_ORDERS,
  type ProblemKind,
  type ProblemOrder,
} from "./choices.ts";
export { parseRange, type Range, type SampleFilter } from "./filter.ts";
export { type Hint, hints } from "./hints/hints.ts";
export {
  type NamedProblem,
  type ProblemQuery,
  type ProblemStatistics,
  problems,
  type Taking,
  takings,
} from "./problems.ts";
export { type Found, type Page, query } from "./query.ts";
export {
  type Sample,
  type SpokenPart,
  sampleOf,
  type WholeSample,
  wholeSample,
  wholeSamples,
} from "./sample.ts";
export {
  type FoundGroups,
  groupsOfRows,
  membersBeside,
  type SampleGroup,
  sampleGroups,
} from "./sample-groups.ts";
export { SampleIndex } from "./sample-index.ts";
