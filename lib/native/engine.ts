import { defaultDevice } from "../device.ts";
import { HoneError } from "../errors.ts";
import { AttemptParts } from "./attempt-parts.ts";
import type { NativeEngine } from "./binding.ts";
import { fromNative, translated } from "./errors.ts";
import type {
  EngineFace,
  EngineHandlers,
  EngineOptions,
  EngineStats,
  GenerationRequest,
  ModelConfigJson,
} from "./face.ts";
import { binding } from "./load.ts";

/** A generation engine with a thread of its own, over the addon. */
export class Engine implements EngineFace {
  /** Native handle, for modules that transfer weights. */
  readonly native: NativeEngine;
  readonly #parts: AttemptParts;

  /**
   * Throws HONE_ERR_CONFIG naming the option, HONE_ERR_OUT_OF_MEMORY if the cache does not fit, HONE_ERR_CUDA
   * without a GPU to use.
   */
  constructor(config: ModelConfigJson, options: EngineOptions, handlers: EngineHandlers) {
    const { NativeEngine } = binding();
    this.native = translated(
      () =>
        new NativeEngine(
          config,
          { ...options, device: options.device ?? defaultDevice() },
          (message) => handlers.onMessage(this.#parts.received(message)),
          (error) => {
            this.#parts.over();
            handlers.onError(fromNative(error));
          },
        ),
    );
    this.#parts = new AttemptParts(this.native, handlers);
  }

  submit(request: GenerationRequest): void {
    translated(() => this.#parts.submit(request));
  }

  abort(id: number, attempt?: number): void {
    translated(() => this.#parts.abort(id, attempt));
  }

  takenUp(version: number): Promise<void> {
    return this.#parts.takenUp(version);
  }

  stats(): EngineStats {
    return this.#parts.stats(this.native.stats());
  }

  close(): Promise<void> {
    this.#parts.over();
    return this.native.close();
  }
}

/**
 * The native handle of an engine. Throws HONE_ERR_USAGE, naming `what`, for an engine outside this process.
 */
export function nativeEngine(engine: EngineFace, what = "publish"): NativeEngine {
  if (engine instanceof Engine) return engine.native;
  throw new HoneError("HONE_ERR_USAGE", `${what}: the engine does not live in this process`);
}
