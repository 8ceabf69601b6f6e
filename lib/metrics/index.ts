/** Metrics: facts of a step in, flat named numbers out; sinks that keep them; the run folder. */

export { AppendFile, type Line, linesOf, wholeLines } from "./append-file.ts";
export { collectStepMetrics, MetricsHistory } from "./collect.ts";
export { DIGEST_STEPS } from "./digest-writer.ts";
export type * from "./facts.ts";
export { bottleneck } from "./machine-metrics.ts";
export { MetricsEndpoint, type MetricsEndpointOptions } from "./metrics-endpoint.ts";
export * from "./pipeline-status.ts";
export { prometheusText, type Sample, samplesText } from "./prometheus.ts";
export { Message } from "./protobuf.ts";
export { RunDigest } from "./run-digest.ts";
export {
  clearLeft,
  ROLLOUT_FILE,
  RUN_FILES,
  type RunManifest,
  readJson,
  readRunManifest,
  type StoredManifest,
  writeRunManifest,
  writeWhole,
  writeWholeBeside,
} from "./run-folder.ts";
export { parseRecord, RunLogReader, readRunLog } from "./run-log.ts";
export { fileWork, type Sink, type StepDetails } from "./sink.ts";
export { openSinks, SINKS } from "./sinks.ts";
export { STEP_STAGES, stagesOf } from "./step-stages.ts";
export { type Stretch, StretchSum, stepsWith, stretchOf } from "./stretch.ts";
