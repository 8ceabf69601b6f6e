import { basename, join } from "node:path";
import { HoneError } from "../errors.ts";
import { PrometheusSink } from "./prometheus.ts";
import { RUN_FILES } from "./run-folder.ts";
import { RunLog } from "./run-log.ts";
import type { Sink } from "./sink.ts";
import { TensorBoardSink } from "./tensorboard.ts";

/** Makes a sink for a run folder. A new sink is a new line here. */
export const SINKS: Readonly<Record<string, (runDir: string) => Sink>> = {
  jsonl: (runDir) => new RunLog(join(runDir, RUN_FILES.log), join(runDir, RUN_FILES.digest)),
  tensorboard: (runDir) => new TensorBoardSink(join(runDir, RUN_FILES.tensorboard)),
  prometheus: (runDir) => new PrometheusSink(join(runDir, RUN_FILES.prometheus), { run: basename(runDir) }),
};

/** Opens the named sinks; closes those already open if a later one fails. Throws HONE_ERR_CONFIG, HONE_ERR_IO. */
export function openSinks(names: readonly string[], runDir: string): Sink[] {
  const open: Sink[] = [];
  try {
    for (const name of names) {
      const make = Object.hasOwn(SINKS, name) ? SINKS[name] : undefined;
      if (make === undefined) {
        throw new HoneError(
          "HONE_ERR_CONFIG",
          `sinks: "${name}" is unknown; known are ${Object.keys(SINKS).join(", ")}.`,
        );
      }
      open.push(make(runDir));
    }
  } catch (error) {
    for (const sink of open) sink.close();
    throw error;
  }
  return open;
}
