import { HoneError } from "../errors.ts";
import type { EngineFace, ModelConfigJson, TrainerFace } from "../native/face.ts";
import type { CommunicatorFace, CommunicatorOptions, WeightSenderFace } from "../native/group-face.ts";
import type { WeightReceiverFace, WeightReceiverOptions } from "../native/receiver-face.ts";
import type { StreamStore } from "../streams/index.ts";
import type { EngineSpec, TransferGroup, TransferPlan } from "./messages.ts";
import { type FleetSettings, REGISTERS } from "./names.ts";
import { connectRanks } from "./rank-group.ts";
import type { StagedWeights, WeightReceiver, WeightSender } from "./transport.ts";

export interface LinkParts {
  readonly store: StreamStore;
  readonly settings: Pick<FleetSettings, "updateMs">;
  readonly make: (options: CommunicatorOptions) => CommunicatorFace;
  /** Ends every wait when it aborts. */
  readonly signal: AbortSignal;
}

/**
 * The one transfer group that this process is in, with the sender as rank 0: kept from one update to the next of the same
 * members. Everything in it has a deadline, `updateMs`: to be there, and for each bucket.
 */
class TransferLink {
  readonly #parts: LinkParts;
  #open: { readonly number: number; readonly group: CommunicatorFace } | undefined;
  readonly #abort = () => void this.#open?.group.abort("this process leaves");

  constructor(parts: LinkParts) {
    this.#parts = parts;
    parts.signal.addEventListener("abort", this.#abort, { once: true });
  }

  /** Does `work` as `me`. A group in which something was lost is left: the next plan names another. */
  async use<T>(group: TransferGroup, me: string, work: (group: CommunicatorFace) => Promise<T>): Promise<T> {
    const connected = await this.#connected(group, me);
    try {
      return await work(connected);
    } catch (error) {
      if (HoneError.is(error) && error.code === "HONE_ERR_COLLECTIVE") await this.#leave("a member is lost");
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#parts.signal.removeEventListener("abort", this.#abort);
    await this.#leave("this process leaves");
  }

  async #leave(why: string): Promise<void> {
    const { group } = this.#open ?? {};
    this.#open = undefined;
    group?.abort(why);
    await group?.close().catch(() => {}); // it is lost
  }

  async #connected({ number, sender, members }: TransferGroup, me: string): Promise<CommunicatorFace> {
    if (this.#open?.number === number) return this.#open.group;
    await this.#leave("others are members now");
    const { store, settings, make, signal } = this.#parts;
    const { updateMs } = settings;
    const group = await connectRanks({
      store,
      rank: [sender, ...members].indexOf(me),
      size: members.length + 1,
      links: REGISTERS.transfer(number),
      name: `${sender} and ${members.join(", ")}`,
      settings: { gatherMs: updateMs, collectiveMs: updateMs },
      signal,
      make,
    });
    this.#open = { number, group };
    return group;
  }
}

const groupOf = (groups: readonly TransferGroup[], sender: string): TransferGroup =>
  groups.find((each) => each.sender === sender)!;

/** Weights over a communicator, packed as engines read them: no file system is shared. */
export class CommunicatorSender implements WeightSender {
  readonly #link: TransferLink;

  constructor(parts: LinkParts) {
    this.#link = new TransferLink(parts);
  }

  /** Resolves too where some members refused what they got: they say so themselves. */
  async send({ groups }: TransferPlan, trainer: TrainerFace, me: string): Promise<void> {
    const sender = trainer as TrainerFace & Partial<WeightSenderFace>;
    if (sender.sendWeights === undefined)
      throw new HoneError("HONE_ERR_USAGE", "this trainer sends no weights over a communicator");
    await this.#link.use(groupOf(groups, me), me, (connected) => sender.sendWeights!(connected));
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}

export interface CommunicatorReceiverParts extends LinkParts {
  readonly receiver: (config: ModelConfigJson, options: WeightReceiverOptions) => WeightReceiverFace;
}

/** Each engine has weights of its own: an evaluation's are older than what training's engine has already. */
export class CommunicatorReceiver implements WeightReceiver {
  readonly #parts: CommunicatorReceiverParts;
  readonly #link: TransferLink;
  readonly #receivers = new Map<string, WeightReceiverFace>();
  /** Version that each engine samples with. */
  readonly #committed = new Map<string, number>();

  constructor(parts: CommunicatorReceiverParts) {
    this.#parts = parts;
    this.#link = new TransferLink(parts);
  }

  async receive({ groups, version }: TransferPlan, spec: EngineSpec, me: string): Promise<StagedWeights> {
    const receiver = this.#receiverOf(spec);
    const group = groups.find(({ members }) => members.includes(me))!;
    const came = await this.#link.use(group, me, (connected) => receiver.receive(connected));
    if (came !== version)
      throw new HoneError("HONE_ERR_STATE", `version ${came} came, announced was ${version}`);
    return {
      commit: async (engine: EngineFace) =>
        void this.#committed.set(spec.engine, await receiver.commit(engine)),
    };
  }

  /** Bytes and checksums are the trainer's, however an engine has its weights packed. Resolves too where some refused them. */
  async send({ groups, version }: TransferPlan, { engine }: EngineSpec, me: string): Promise<void> {
    const receiver = this.#receivers.get(engine);
    if (receiver === undefined || this.#committed.get(engine) !== version)
      throw new HoneError("HONE_ERR_STATE", `version ${version} of ${engine} was not committed here`);
    const group = groupOf(groups, me);
    await this.#link.use(group, me, (connected) => receiver.send(connected));
  }

  async forget(engine: string): Promise<void> {
    const receiver = this.#receivers.get(engine);
    this.#receivers.delete(engine);
    this.#committed.delete(engine);
    await receiver?.close();
  }

  async close(): Promise<void> {
    await this.#link.close();
    for (const engine of [...this.#receivers.keys()]) await this.forget(engine);
  }

  #receiverOf({
    engine,
    config,
    options: { weightStorage, arithmetic = "f32", device = "cpu" },
  }: EngineSpec): WeightReceiverFace {
    const receiver =
      this.#receivers.get(engine) ?? this.#parts.receiver(config, { weightStorage, arithmetic, device });
    this.#receivers.set(engine, receiver);
    return receiver;
  }
}
