import type { DropReason, FinishReason, Verdict } from "../records.ts";
import { Table } from "./table.ts";

/** A hash of 128 bits. */
const KEY = { key0: "u32", key1: "u32", key2: "u32", key3: "u32" } as const;
/** Byte range of a journal line. */
const LINE = { at: "f64", size: "u32" } as const;

/** Tables store the index in this list; append new statuses at its end. */
export const STATUSES: readonly Verdict["status"][] = [
  "unscored",
  "correct",
  "partial",
  "wrong",
  "no_answer",
  "unparsable",
];
export const FINISHES: readonly FinishReason[] = ["eos", "stop", "length", "abort", "turns"];
/** Tables store the index in this list; 0: not dropped. */
export const DROPS: readonly (DropReason | undefined)[] = [
  undefined,
  "zero-advantage",
  "unscored",
  "too-small-group",
  "overlong",
  "hook",
  "abort",
];

/** Stored as the length of a thought if nothing marks one. */
export const NO_THOUGHT = 0xffffffff;

const PROBLEM = {
  ...KEY,
  ...LINE,
  id: "u32",
  /** Indices into the names. */
  domain: "u32",
  family: "u32",
  level: "f64",
  /** First row of the same problem: the journal records every draw of a data set's row under another id. */
  same: "u32",
  identity0: "u32",
  identity1: "u32",
  identity2: "u32",
  identity3: "u32",
  reference0: "u32",
  reference1: "u32",
} as const;

const COMPLETION = {
  ...KEY,
  ...LINE,
  problem: "u32",
  finish: "u8",
  /** Lengths in UTF-16 code units. */
  chars: "u32",
  thought: "u32",
  /** Two halves of a hash of the comparable answer; both 0 for a completion without an answer. */
  answer0: "u32",
  answer1: "u32",
} as const;

const VERDICT = { ...LINE, completion: "u32", version: "f64", status: "u8", score: "f64" } as const;

/** A completion that a step took. Missing numbers are NaN. */
const MEMBER = {
  /** Byte range of the group's line. */
  ...LINE,
  step: "u32",
  group: "u32",
  /** The latest row of its problem at that time. */
  problem: "u32",
  completion: "u32",
  attempt: "u32",
  tokens: "u32",
  firstVersion: "u32",
  lastVersion: "u32",
  status: "u8",
  dropped: "u8",
  masked: "u8",
  score: "f64",
  reward: "f64",
  penaltyScale: "f64",
  penalty: "f64",
  advantage: "f64",
} as const;

/**
 * A session that resumed after `step` when the table had `members` rows; among these, rows of later steps are void.
 */
const SITTING = { step: "u32", members: "u32" } as const;

export const tables = () => ({
  problems: new Table(PROBLEM),
  completions: new Table(COMPLETION),
  verdicts: new Table(VERDICT),
  members: new Table(MEMBER),
  sessions: new Table(SITTING),
});

/** Contents of an index: the journal without its texts. */
export type Tables = ReturnType<typeof tables>;

/** Version of this format; an index with another version is rebuilt. */
export const FORMAT = 2;
