/** The only door to the addon. Importing this loads nothing; the first Engine, Trainer or info() does. */
export { Engine } from "./engine.ts";
export * from "./face.ts";
export { type Completion, type CompletionSink, Generations } from "./generations.ts";
export { writeModelFolder } from "./model-writer.ts";
export { HfTokenizer, openTokenizer } from "./tokenizer.ts";
export { Trainer } from "./trainer.ts";

import { translated } from "./errors.ts";
import type { NativeInfo } from "./face.ts";
import { binding, packageVersion } from "./load.ts";

/** What was built and what was found; asks the CUDA driver the first time. */
export function info(): NativeInfo {
  return { version: packageVersion(), ...translated(() => binding().info()) };
}
