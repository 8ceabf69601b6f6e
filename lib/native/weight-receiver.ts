import type { NativeWeightReceiver } from "./binding.ts";
import { nativeCommunicator } from "./communicator.ts";
import { nativeEngine } from "./engine.ts";
import { awaited, translated } from "./errors.ts";
import type { EngineFace, ModelConfigJson } from "./face.ts";
import type { CommunicatorFace } from "./group-face.ts";
import { binding } from "./load.ts";
import type { WeightReceiverFace, WeightReceiverOptions } from "./receiver-face.ts";

/** Weights from a trainer of another process, over the addon: {@link WeightReceiverFace}. Calls queue in order. */
export class WeightReceiver implements WeightReceiverFace {
  readonly #native: NativeWeightReceiver;

  /** Throws HONE_ERR_CONFIG naming the option, HONE_ERR_OUT_OF_MEMORY naming the arena. */
  constructor(config: ModelConfigJson, options: WeightReceiverOptions) {
    const { NativeWeightReceiver } = binding();
    this.#native = translated(() => new NativeWeightReceiver(config, options));
  }

  async receive(group: CommunicatorFace): Promise<number> {
    const native = nativeCommunicator(group, "receive");
    return await awaited(() => this.#native.receive(native));
  }

  async send(group: CommunicatorFace): Promise<number> {
    const native = nativeCommunicator(group, "send");
    return await awaited(() => this.#native.send(native));
  }

  async commit(engine: EngineFace): Promise<number> {
    const native = nativeEngine(engine, "commit");
    return await awaited(() => this.#native.commit(native));
  }

  close(): Promise<void> {
    return this.#native.close();
  }
}
