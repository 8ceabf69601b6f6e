import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES, readJson } from "./run-folder.ts";

/** Requests to a run from outside its process, by a file in its folder. */
export const CONTROL_ACTIONS = ["pause", "resume", "checkpoint", "stop"] as const;
export type ControlAction = (typeof CONTROL_ACTIONS)[number];

export interface ControlRequest {
  readonly schema: 1;
  /** Letters, digits and hyphens. */
  readonly id: string;
  readonly action: ControlAction;
  /** Requester, for the event log. */
  readonly by: string;
}

/** A request and its outcome. */
export interface ControlOutcome extends ControlRequest {
  /** Number of steps that were done when this status was taken. */
  readonly step: number;
  readonly state: "taken" | "done" | "failed";
  readonly error?: string | undefined;
}

/** A stage of the pipeline, in the order of docs/explanation/the-line.md. */
export interface StageStatus {
  readonly name: "prompts" | "engine" | "verifiers" | "batcher" | "trainer";
  /** Items in the stage now, and its capacity if it has one. */
  readonly holds: number;
  readonly of?: number | undefined;
  readonly unit: "groups" | "sequences";
  readonly busy: boolean;
  /** One sentence for the user. */
  readonly detail: string;
}

export interface VerifierStatus {
  readonly name: string;
  /** Completions sent out and not yet judged, and the age of the oldest. */
  readonly out: number;
  readonly oldestMs: number;
  /** Time limit of a completion in milliseconds; absent if unknown. */
  readonly limitMs?: number | undefined;
  readonly calls: number;
  readonly timeouts: number;
  readonly crashes: number;
  readonly unscored: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** How a replaced process of a run ended. */
export interface ProcessEnd {
  readonly atMs: number;
  /** "by SIGKILL", "with exit code 75". */
  readonly how: string;
  /** The last lines that the process wrote; "" if it wrote none. */
  readonly words: string;
}

/** A process of a run, as observed by the run. */
export interface ProcessStatus {
  /** "run", "actor.1", "trainer.0", "verifier.3". */
  readonly name: string;
  /** Process id; absent while no process fills the slot. */
  readonly pid?: number | undefined;
  /** "silent": running without a heartbeat; "starting": before its first heartbeat; "gone": no process fills its place. */
  readonly state: "alive" | "starting" | "silent" | "gone";
  readonly restarts: number;
  /** True for a process of the run's own verifier pool, which the store does not list. */
  readonly pooled?: true | undefined;
  /** Version of its weights, and its distance to the current version. */
  readonly version?: number | undefined;
  readonly lag?: number | undefined;
  /** Tokens sampled per second, over the last few seconds. */
  readonly tokensPerSecond?: number | undefined;
  /** URL of its Prometheus endpoint. */
  readonly metrics?: string | undefined;
  /** The process's current work, or what it is waiting for; "" if unknown. */
  readonly doing: string;
  /** How the previous process in its slot ended. */
  readonly ended?: ProcessEnd | undefined;
}

/** `line.json`: where a run is at this moment, rewritten about once a second while its process lives. */
export interface PipelineStatus {
  readonly schema: 1;
  readonly pid: number;
  /** Milliseconds since 1970, as all times here. */
  readonly writtenMs: number;
  readonly sittingStartedMs: number;
  readonly phase: { readonly name: string; readonly done: number; readonly total: number };
  /** Steps done, and number of steps in the recipe. */
  readonly step: number;
  readonly steps: number;
  readonly paused: boolean;
  /** Set when the run is over, or was told to stop. */
  readonly end?: "done" | "stopped" | "aborted" | "failed" | "stopping" | undefined;
  /** Which stage waits for which, in one sentence, and since when; `stuck` if nothing progresses. */
  readonly waits: { readonly sentence: string; readonly sinceMs: number; readonly stuck: boolean };
  readonly stages: readonly StageStatus[];
  readonly credits: { readonly free: number; readonly total: number };
  /** Weight versions: the trainer's, the engine's. */
  readonly version: { readonly trainer: number; readonly engine: number };
  readonly engine: {
    readonly pagesUsed: number;
    readonly pagesTotal: number;
    /** Tokens per second since the previous status. */
    readonly tokensPerSecond: number;
    /**
     * Resumed rollouts since the session began, if the recipe records rollouts in progress; lost tokens are
     * those of actors that exited.
     */
    readonly takenUp?:
      | { readonly rollouts: number; readonly tokens: number; readonly lostTokens: number }
      | undefined;
  };
  readonly verifiers: readonly VerifierStatus[];
  readonly verifierWorkers: number;
  readonly machine: {
    readonly rssBytes: number;
    readonly heapBytes: number;
    readonly threads: number;
    /** Processors kept busy by this process since the previous status. */
    readonly processors: number;
    readonly device: string;
    readonly gpu?:
      | { readonly usedBytes: number; readonly totalBytes: number; readonly busy: number }
      | undefined;
  };
  /** Processes of the run, its main process first; absent in a line.json of an older version. */
  readonly processes?: readonly ProcessStatus[] | undefined;
  /** Address of the store, without a password; absent for a single process. */
  readonly store?: { readonly address: string; readonly run: string } | undefined;
  /** Transport of the weights, in a sentence. */
  readonly weights?: string | undefined;
  /** The most recent control requests. */
  readonly requests: readonly ControlOutcome[];
}

/** The status in a run folder; undefined if there is none, or it cannot be read. */
export function readPipelineStatus(runDir: string): PipelineStatus | undefined {
  const path = join(runDir, RUN_FILES.line);
  if (!existsSync(path)) return undefined;
  try {
    const status = readJson(path) as PipelineStatus | null;
    return status?.schema === 1 ? status : undefined;
  } catch {
    return undefined; // written by another version, or removed under way
  }
}
