import type { RolloutGroup, ScoredRollout } from "../records.ts";
import { Message } from "./protobuf.ts";

/**
 * Source of all message formats: tensorflow/core/util/event.proto, framework/summary.proto,
 * framework/tensor.proto.
 */
const SESSION_START = 1;
const DT_STRING = 7;
const DATA_CLASS_TENSOR = 2;
const BUCKETS = 30;
/** Characters of a completion that a page shows; the rest is in verdicts.jsonl. */
const MOST_CHARACTERS = 4_096;

type Value = Message;

/** Event {1 wall_time double, 2 step int64, 5 summary {1 value*}}. */
export function summaryEvent(wallSeconds: number, step: number, values: readonly Value[]): Buffer {
  const summary = new Message();
  for (const value of values) summary.message(1, value);
  return new Message().double(1, wallSeconds).int(2, step).message(5, summary).finish();
}

/** Value {1 tag, 2 simple_value float} for each. */
export function scalars(metrics: Readonly<Record<string, number>>): Value[] {
  return Object.entries(metrics).map(([tag, value]) => new Message().bytes(1, tag).float(2, value));
}

/** Event {1 wall_time, 3 file_version}: must be the first of a file. */
export function versionEvent(wallSeconds: number): Buffer {
  return new Message().double(1, wallSeconds).bytes(3, "brain.Event:2").finish();
}

/**
 * Event {1 wall_time, 2 step, 7 session_log {1 status START}}: readers discard earlier files' events of this step and
 * later ones.
 */
export function restartEvent(wallSeconds: number, step: number): Buffer {
  const log = new Message().int(1, SESSION_START);
  return new Message().double(1, wallSeconds).int(2, step).message(7, log).finish();
}

/**
 * Value {1 tag, 5 histo {1 min, 2 max, 3 num, 4 sum, 5 sum_squares, 6 bucket_limit*, 7 bucket*}}: 30 buckets
 * of equal width, each with its upper limit. `values` must be finite and not empty.
 */
export function histogram(tag: string, values: readonly number[]): Value {
  const min = Math.min(...values);
  const max = Math.max(...values);
  const width = (max - min) / BUCKETS;
  const limits = width === 0 ? [max] : Array.from({ length: BUCKETS }, (_, i) => min + (i + 1) * width);
  limits[limits.length - 1] = max;
  const counts = limits.map(() => 0);
  for (const value of values) {
    const at = width === 0 ? 0 : Math.min(BUCKETS - 1, Math.floor((value - min) / width));
    counts[at]! += 1;
  }
  const histo = new Message()
    .double(1, min)
    .double(2, max)
    .double(3, values.length)
    .double(
      4,
      values.reduce((sum, value) => sum + value, 0),
    )
    .double(
      5,
      values.reduce((sum, value) => sum + value * value, 0),
    )
    .doubles(6, limits)
    .doubles(7, counts);
  return new Message().bytes(1, tag).message(5, histo);
}

/** Value {1 tag, 8 tensor {1 dtype string, 2 shape {2 dim {1 size}}, 8 string_val}, 9 metadata {1 plugin {1 "text"}, 4}}. */
export function text(tag: string, markdown: string): Value {
  const shape = new Message().message(2, new Message().int(1, 1));
  const tensor = new Message().int(1, DT_STRING).message(2, shape).bytes(8, markdown);
  const metadata = new Message().message(1, new Message().bytes(1, "text")).int(4, DATA_CLASS_TENSOR);
  return new Message().bytes(1, tag).message(8, tensor).message(9, metadata);
}

/** Distributions over a step's rollouts: reward, advantage, tokens, entropy. */
export function histogramsOf(groups: readonly RolloutGroup[]): Value[] {
  const rollouts = groups.flatMap((group) => group.rollouts);
  const spread = (tag: string, of: (scored: ScoredRollout) => number): Value[] => {
    const values = rollouts.map(of).filter(Number.isFinite);
    return values.length === 0 ? [] : [histogram(tag, values)];
  };
  return [
    ...spread("rollouts/reward", ({ reward }) => reward),
    ...spread("rollouts/advantage", ({ advantage }) => advantage),
    ...spread("rollouts/tokens", ({ rollout }) => rollout.tokens.length),
    ...spread("rollouts/entropy", ({ rollout: { entropies } }) =>
      entropies.length === 0 ? Number.NaN : entropies.reduce((sum, h) => sum + h, 0) / entropies.length,
    ),
  ];
}

/** The first completion of each domain in the step, with its verdict. */
export function samplesOf(groups: readonly RolloutGroup[]): Value[] {
  const first = new Map<string, ScoredRollout>();
  for (const { problem, rollouts } of groups)
    if (rollouts.length > 0 && !first.has(problem.domain)) first.set(problem.domain, rollouts[0]!);
  return [...first].map(([domain, scored]) => text(`samples/${domain}`, sampleText(scored)));
}

function sampleText({ rollout, verdict, reward, advantage }: ScoredRollout): string {
  const { problem, attempt, tokens, finish } = rollout;
  const numbers = `score ${verdict.score}, reward ${reward.toFixed(3)}, advantage ${advantage.toFixed(3)}`;
  return [
    `**problem ${problem.id}, attempt ${attempt}: ${verdict.status}** (${numbers}; ${tokens.length} tokens, ${finish})`,
    codeBlock(verdict.reason),
    "question:",
    codeBlock(problem.question),
    "completion:",
    codeBlock(rollout.text),
  ].join("\n\n");
}

/** Indents a text so that TensorBoard shows it verbatim and does not read a model's words as Markdown. */
function codeBlock(whole: string): string {
  const shown = whole.length > MOST_CHARACTERS ? `${whole.slice(0, MOST_CHARACTERS)} …` : whole;
  return shown
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `    ${line}`)
    .join("\n");
}
