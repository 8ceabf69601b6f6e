import type { Clock } from "../../clock.ts";
import type { ControlOutcome, EvaluationFacts, ProcessStatus } from "../../metrics/index.ts";
import type { Checkpoints } from "../recovery/index.ts";
import type { RunResources } from "../setup/index.ts";
import type { Publisher } from "./publisher.ts";
import type { RunOptions } from "./run-interface.ts";
import type { StopRequest } from "./stop-request.ts";

/** Shared state of the parts of one run. */
export interface RunContext {
  readonly resources: RunResources;
  readonly options: RunOptions;
  readonly clock: Clock;
  readonly checkpoints: Checkpoints;
  readonly publisher: Publisher;
  readonly stop: StopRequest;
  readonly progress: RunProgress;
  /** Control requests from files in the run's folder so far; set when the run begins. */
  asked: readonly ControlOutcome[];
  /** The run's processes at the last status update. */
  processes: readonly ProcessStatus[];
}

/** Progress of a run, earlier sessions included. */
export interface RunProgress {
  /** Steps done. */
  step: number;
  /** Wall seconds of each phase. */
  readonly seconds: { warmStart: number; training: number };
  /** Token counts when this session began. */
  readonly before: { generated: number; trained: number };
  /** State that the metrics keep from step to step. */
  metrics: unknown;
  /** An evaluation not yet included in a step's record. */
  evaluated: EvaluationFacts | undefined;
}
