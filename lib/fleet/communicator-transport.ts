import { HoneError } from "../errors.ts";
import { NO_OPTIMIZER } from "../inference/model-folder.ts";
import type { EngineFace, EngineOptions, ModelConfigJson, NativeInfo, TrainerFace } from "../native/face.ts";
import type { CommunicatorFace, CommunicatorOptions, WeightSenderFace } from "../native/group-face.ts";
import { Communicator, memorySizes, WeightReceiver as NativeReceiver } from "../native/index.ts";
import type { WeightReceiverFace, WeightReceiverOptions } from "../native/receiver-face.ts";
import type { StreamStore } from "../streams/index.ts";
import type { EngineSpec, TransferGroup, TransferPlan, TransportKind } from "./messages.ts";
import { type FleetSettings, REGISTERS } from "./names.ts";
import {
  type FolderOptions,
  FolderTransport,
  type StagedWeights,
  type WeightTransport,
} from "./transport.ts";

export interface RankGroupOptions {
  readonly store: StreamStore;
  readonly rank: number;
  readonly size: number;
  /** Prefix of this group's registers in the store; every other group, and every later epoch, has another prefix. */
  readonly links: string;
  /** Name of the group, for messages. */
  readonly name: string;
  readonly settings: Pick<FleetSettings, "gatherMs" | "collectiveMs">;
  readonly signal: AbortSignal;
  readonly make: (options: CommunicatorOptions) => CommunicatorFace;
}

/**
 * Connects the ranks of one group; they exchange addresses through registers of the store. Throws HONE_ERR_COLLECTIVE
 * naming the ranks that did not connect in time.
 */
export async function connectRanks(options: RankGroupOptions): Promise<CommunicatorFace> {
  const { rank, size, settings, make } = options;
  const group = make({ rank, size, timeoutMs: settings.collectiveMs });
  try {
    await tell(options, group.prepare());
    await group.connect(await hear(options));
    return group;
  } catch (error) {
    group.abort("not all ranks of the group have connected");
    await group.close().catch(() => {}); // the group was never complete
    throw error;
  }
}

async function tell({ store, rank, links }: RankGroupOptions, blobs: readonly Uint8Array[]): Promise<void> {
  const written = blobs.map((blob, to) =>
    store.kv.set(`${links}${rank}-${to}`, Buffer.from(blob).toString("base64")),
  );
  await Promise.all(written);
}

async function hear({
  store,
  rank,
  size,
  links,
  name,
  settings,
  signal,
}: RankGroupOptions): Promise<Uint8Array[]> {
  const waitMs = settings.gatherMs;
  const heard = Array.from({ length: size }, (_, from) =>
    store.kv.waitFor(`${links}${from}-${rank}`, { waitMs, signal }),
  );
  const texts = await Promise.all(heard);
  const missing = texts.flatMap((text, from) => (text === undefined ? [from] : []));
  if (missing.length === 0) return texts.map((text) => Uint8Array.from(Buffer.from(text!, "base64")));
  throw new HoneError(
    "HONE_ERR_COLLECTIVE",
    `rank(s) ${missing.join(", ")} of ${name} did not connect within ${Math.round(waitMs / 1000)} s`,
  );
}

/** Bytes of the packed weights that an engine reads. */
export function weightBytes(config: ModelConfigJson, engine: EngineOptions): number {
  const { weightStorage, arithmetic = "f32", device = "cpu" } = engine;
  const trainer = { optimizer: NO_OPTIMIZER, packedTokens: 16, weightStorage, arithmetic, device };
  return memorySizes(config, { engine, trainer }, { sequences: 1, threads: 1 }).snapshot;
}

export interface CommunicatorParts {
  readonly store: StreamStore;
  readonly make: (options: CommunicatorOptions) => CommunicatorFace;
  readonly receiver: (config: ModelConfigJson, options: WeightReceiverOptions) => WeightReceiverFace;
  /** Signal whose abort ends every wait. */
  readonly signal: AbortSignal;
}

/**
 * The transfer group of this process, with the sender as rank 0; reused by later updates with the same members.
 * Connecting and every bucket have the deadline of the plan for which it was formed.
 */
class TransferLink {
  readonly #parts: CommunicatorParts;
  #open: { readonly number: number; readonly group: CommunicatorFace } | undefined;
  readonly #abort = () => void this.#open?.group.abort("this process leaves");

  constructor(parts: CommunicatorParts) {
    this.#parts = parts;
    parts.signal.addEventListener("abort", this.#abort, { once: true });
  }

  /** Runs `work` in the plan's group that `is` finds, as `me`. Leaves a group that failed; the next plan names another. */
  async use<T>(
    { groups, withinMs }: TransferPlan,
    is: (group: TransferGroup) => boolean,
    me: string,
    work: (group: CommunicatorFace) => Promise<T>,
  ): Promise<T> {
    const connected = await this.#connected(groups.find(is)!, me, withinMs);
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
    await group?.close().catch(() => {}); // the group is lost
  }

  async #connected(
    { number, sender, members }: TransferGroup,
    me: string,
    withinMs: number,
  ): Promise<CommunicatorFace> {
    if (this.#open?.number === number) return this.#open.group;
    await this.#leave("others are members now");
    const { store, make, signal } = this.#parts;
    const group = await connectRanks({
      store,
      rank: [sender, ...members].indexOf(me),
      size: members.length + 1,
      links: REGISTERS.transfer(number),
      name: `${sender} and ${members.join(", ")}`,
      settings: { gatherMs: withinMs, collectiveMs: withinMs },
      signal,
      make,
    });
    this.#open = { number, group };
    return group;
  }
}

const sentBy =
  (me: string) =>
  ({ sender }: TransferGroup): boolean =>
    sender === me;

/** Weights over connections between sender and members, packed as engines read them: no file system is shared. */
export class CommunicatorTransport implements WeightTransport {
  readonly #parts: CommunicatorParts;
  readonly #link: TransferLink;
  /** Each engine has its own weights: an evaluation engine's may be older than the training engine's. */
  readonly #receivers = new Map<string, WeightReceiverFace>();
  /** Version that each engine samples with. */
  readonly #committed = new Map<string, number>();

  constructor(parts: CommunicatorParts) {
    this.#parts = parts;
    this.#link = new TransferLink(parts);
  }

  /** Also resolves if some members rejected their weights, because each member reports that itself. */
  async send(plan: TransferPlan, trainer: TrainerFace, me: string): Promise<void> {
    const sender = trainer as TrainerFace & Partial<WeightSenderFace>;
    if (sender.sendWeights === undefined)
      throw new HoneError("HONE_ERR_USAGE", "this trainer sends no weights over a communicator");
    await this.#link.use(plan, sentBy(me), me, (connected) => sender.sendWeights!(connected));
  }

  /**
   * Bytes and checksums are those of the trainer's weights, even where an engine stores them packed. Also resolves if
   * some members rejected the weights.
   */
  async relay(plan: TransferPlan, { engine }: EngineSpec, me: string): Promise<void> {
    const { version } = plan;
    const receiver = this.#receivers.get(engine);
    if (receiver === undefined || this.#committed.get(engine) !== version)
      throw new HoneError(
        "HONE_ERR_STATE",
        `this process does not have weight version ${version} of ${engine}, and cannot pass it on`,
      );
    await this.#link.use(plan, sentBy(me), me, (connected) => receiver.send(connected));
  }

  async receive(plan: TransferPlan, spec: EngineSpec, me: string): Promise<StagedWeights> {
    const { version } = plan;
    const receiver = this.#receiverOf(spec);
    const isMine = ({ members }: TransferGroup) => members.includes(me);
    const came = await this.#link.use(plan, isMine, me, (connected) => receiver.receive(connected));
    if (came !== version)
      throw new HoneError("HONE_ERR_STATE", `received version ${came}, but version ${version} was announced`);
    return {
      commit: async (engine: EngineFace) =>
        void this.#committed.set(spec.engine, await receiver.commit(engine)),
    };
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

/** Transport of a run's weights, and the sentence that explains the choice. */
export interface ChosenTransport {
  readonly way: TransportKind;
  /** Transport between GPUs, which also needs NCCL. */
  readonly betweenGpus: TransportKind;
  readonly words: string;
}

/** Throws HONE_ERR_UNSUPPORTED if the recipe requires a communicator and Gloo is not available. */
export function chooseTransport(
  asked: TransportKind | undefined,
  { gloo, nccl }: Pick<NativeInfo, "gloo" | "nccl">,
): ChosenTransport {
  const folders = { way: "folder", betweenGpus: "folder" } as const;
  if (asked === "folder") return { ...folders, words: "weights go to actors through folders" };
  if (gloo.version !== null) {
    const betweenGpus = asked === undefined && nccl.version === null ? "folder" : "communicator";
    const over = nccl.version === null ? "Gloo" : "Gloo, between GPUs over NCCL";
    return {
      way: "communicator",
      betweenGpus,
      words: `weights go to actors over ${over}, from one sender a machine`,
    };
  }
  const why = `Gloo is not available: ${gloo.reason}`;
  if (asked === undefined) return { ...folders, words: `weights go to actors through folders; ${why}` };
  throw new HoneError("HONE_ERR_UNSUPPORTED", `hardware.weights is "communicator", but ${why}`, {
    hint: "Leave hardware.weights out to send weights through folders.",
  });
}

export interface TransportParts extends Pick<CommunicatorParts, "signal">, FolderOptions {
  /** Address of this machine for members elsewhere. Default: reachable only from this machine. */
  readonly host: string | undefined;
}

/** Opens both transports; each update uses the one that its plan names. */
export function openTransport(parts: TransportParts): WeightTransport {
  const { store, signal, host } = parts;
  const make = (options: CommunicatorOptions) =>
    new Communicator({ ...options, ...(host !== undefined && { host }) });
  const receiver = (...args: ConstructorParameters<typeof NativeReceiver>) => new NativeReceiver(...args);
  const ways: Readonly<Record<TransportKind, WeightTransport>> = {
    folder: new FolderTransport(parts),
    communicator: new CommunicatorTransport({ store, signal, make, receiver }),
  };
  const each = async (work: (way: WeightTransport) => Promise<void>) => {
    for (const way of Object.values(ways)) await work(way);
  };
  return {
    send: (plan, trainer, me) => ways[plan.way].send(plan, trainer, me),
    relay: (plan, spec, me) => ways[plan.way].relay(plan, spec, me),
    receive: (plan, spec, me) => ways[plan.way].receive(plan, spec, me),
    forget: (engine) => each((way) => way.forget(engine)),
    close: () => each((way) => way.close()),
  };
}
