import { duration } from "./format.js";

/** @import { PipelineStatus } from "../wire.ts" */

/** A sentence about what the run is waiting for. @param {PipelineStatus} status @param {boolean} live */
export function doctorText({ waits, end, writtenMs }, live) {
  if (!live)
    return `${end === undefined ? "The process is gone" : `The run is over (${end})`}; at the end: ${waits.sentence}`;
  const seconds = (writtenMs - waits.sinceMs) / 1000;
  return seconds >= 5 ? `${waits.sentence} (for ${duration(seconds)})` : waits.sentence;
}
