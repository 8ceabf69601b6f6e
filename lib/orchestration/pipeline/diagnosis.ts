import { counted } from "../../data/index.ts";
import type { VerifierStatus } from "../../metrics/index.ts";
import type { EngineStats } from "../../native/face.ts";

/** State of the pipeline, from which a diagnosis is made. */
export interface PipelineFacts {
  /** Steps done. */
  readonly step: number;
  readonly paused: boolean;
  /** The trainer is in a step. */
  readonly training: boolean;
  /** The owner's hook that the pipeline is waiting for, if any. */
  readonly hook?: string | undefined;
  /** What the hook says that it is doing, if it says anything. */
  readonly doing?: string | undefined;
  readonly credits: { readonly free: number; readonly total: number };
  readonly outstanding: number;
  readonly running: number;
  readonly waiting: number;
  /** Groups that wait for verdicts. */
  readonly verifying: number;
  /** Settled groups not yet taken by a step, and the number that a step needs. */
  readonly ready: number;
  readonly wanted: number;
  readonly verifiers: readonly VerifierStatus[];
  readonly workers: number;
  /** Time-outs of verifiers since the step began. */
  readonly recentTimeouts: Readonly<Record<string, number>>;
}

/** The fields of PipelineFacts that the pipeline knows; the caller of the diagnosis adds the others. */
export interface PipelineSnapshot extends Omit<PipelineFacts, "step" | "paused" | "recentTimeouts"> {
  /** Changes whenever anything moves. */
  readonly progress: number;
  readonly engine: Omit<EngineStats, "running" | "waiting">;
}

/** Describes which stage waits for which. `key` does not change while only numbers in the description change. */
export interface Diagnosis {
  readonly key: string;
  readonly sentence: string;
}

/** Returns the sentence that explains why the run does not go faster. */
export function diagnose(facts: PipelineFacts): Diagnosis {
  const { hook, doing, paused, training, step } = facts;
  if (hook !== undefined && doing !== undefined)
    return { key: `hook ${doing}`, sentence: `everything waits for ${doing}` };
  if (hook !== undefined)
    return { key: `hook ${hook}`, sentence: `everything waits for your hook ${hook} to return` };
  if (training) return duringStep(facts);
  if (paused && facts.outstanding === 0)
    return { key: "paused", sentence: `paused after step ${step}: nothing is under way; resume to continue` };
  const { key, sentence } = beforeStep(facts);
  return paused
    ? { key: `paused ${key}`, sentence: `paused: no new prompts; of what is under way, ${sentence}` }
    : { key, sentence };
}

function duringStep({ step, running, waiting, credits, verifying }: PipelineFacts): Diagnosis {
  const inStep = `trainer is in step ${step + 1}`;
  if (running + waiting > 0)
    return {
      key: "both",
      sentence: `${inStep}; beside it the engine samples ${counted(running, "sequence")}`,
    };
  if (verifying > 0)
    return { key: "trainer", sentence: `${inStep}; ${counted(verifying, "group")} wait for verdicts` };
  return credits.free === 0
    ? {
        key: "engine waits",
        sentence: `engine waits for the trainer, which is in step ${step + 1}: all ${credits.total} credits are out`,
      }
    : { key: "trainer", sentence: inStep };
}

function beforeStep(facts: PipelineFacts): Diagnosis {
  const { verifying, running, waiting, ready, wanted, credits } = facts;
  const slow = slowest(facts.verifiers);
  if (
    verifying > 0 &&
    slow !== undefined &&
    (running + waiting === 0 || facts.recentTimeouts[slow.name]! > 0)
  )
    return {
      key: `verifier ${slow.name}`,
      sentence: `trainer waits for verifier \`${slow.name}\`: ${verifierWords(slow, facts)}`,
    };
  const has = `it has ${ready} of ${counted(wanted, "group")}`;
  if (running + waiting > 0)
    return {
      key: "engine",
      sentence: `trainer waits for the engine: ${counted(running, "sequence")} running, ${waiting} waiting for room; ${has}`,
    };
  if (verifying > 0)
    return {
      key: "verifiers",
      sentence: `trainer waits for verdicts on ${counted(verifying, "group")}; ${has}`,
    };
  if (ready >= wanted) return { key: "begin", sentence: `trainer begins step ${facts.step + 1}` };
  return {
    key: "prompts",
    sentence: `trainer waits for prompts: nothing is under way, ${credits.free} of ${credits.total} credits are free; ${has}`,
  };
}

/** The verifier whose oldest completion has been out longest. */
const slowest = (verifiers: readonly VerifierStatus[]): VerifierStatus | undefined =>
  verifiers.filter(({ out }) => out > 0).sort((a, b) => b.oldestMs - a.oldestMs)[0];

function verifierWords({ name, out, oldestMs, limitMs }: VerifierStatus, facts: PipelineFacts): string {
  const limit = limitMs === undefined ? undefined : `${seconds(limitMs)} limit`;
  const late = facts.recentTimeouts[name] ?? 0;
  const timeouts = late > 0 ? `, ${late} hit their ${limit ?? "limit"} since the step began` : "";
  const age = `the oldest for ${seconds(oldestMs)}${late === 0 && limit !== undefined ? ` (${limit} each)` : ""}`;
  return `${counted(out, "completion")} out, ${age}${timeouts}; pool of ${facts.workers}`;
}

const seconds = (ms: number): string =>
  `${ms < 10_000 ? Number((ms / 1000).toFixed(1)) : Math.round(ms / 1000)} s`;
