/** Sort order: by step, by tokens, or by reward; among equals, the newest first. */
export const ORDERS = ["newest", "oldest", "longest", "shortest", "best", "worst"] as const;
export type Order = (typeof ORDERS)[number];

/**
 * Filter by judged attempts: none solved, all, some; flipped: at least half solved in either the first group or the
 * last, not in both.
 */
export const PROBLEM_KINDS = ["all", "never", "always", "sometimes", "flipped"] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** Sort order: by solve rate, by its change from the first group to the last, by tokens, by number of completions. */
export const PROBLEM_ORDERS = ["hardest", "easiest", "gained", "lost", "longest", "most"] as const;
export type ProblemOrder = (typeof PROBLEM_ORDERS)[number];

/** Change of held-out problems between two evaluations: more attempts solved it, fewer, or none at both times. */
export const CHANGE_KINDS = ["all", "gained", "lost", "wrong"] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

export const HINT_KINDS = ["gold-rejected", "longer-and-longer", "one-answer", "empty-thoughts"] as const;
export type HintKind = (typeof HINT_KINDS)[number];
