import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { HoneError } from "../errors.ts";
import { NO_OPTIMIZER } from "../inference/model-folder.ts";
import type { EngineFace, TrainerFace } from "../native/face.ts";
import type { Core } from "../orchestration/index.ts";
import { type Located, nodeGroups, type SenderGroup } from "../shared/weights/weight-update.ts";
import type { StreamStore } from "../streams/index.ts";
import type { EngineSpec, TransferGroup, TransferPlan, TransportKind } from "./messages.ts";
import { REGISTERS } from "./names.ts";

/** Complete, checked weights that no engine uses yet. */
export interface StagedWeights {
  /** Passes the weights to the engine, which takes them between two of its steps. */
  commit(engine: EngineFace): Promise<void>;
}

/**
 * Moves weights from a process that has them to those that sample with them. Every method rejects with
 * HONE_ERR_COLLECTIVE if a member did not connect in time: with other members the transfer may succeed.
 */
export interface WeightTransport {
  /** Sends a trainer's weights as the plan's sender `me`. Resolves when the receivers assigned to `me` can read them. */
  send(plan: TransferPlan, trainer: TrainerFace, me: string): Promise<void>;
  /**
   * Sends the last committed weights unchanged, as a sender of the plan. Rejects with HONE_ERR_STATE if they are not
   * the plan's version, or are no longer complete here.
   */
  relay(plan: TransferPlan, spec: EngineSpec, me: string): Promise<void>;
  /** Receives weights as a member of the plan. Rejects with another error if they are damaged; then nothing has changed. */
  receive(plan: TransferPlan, spec: EngineSpec, me: string): Promise<StagedWeights>;
  /** Releases an engine that receives no more weights. */
  forget(engine: string): Promise<void>;
  close(): Promise<void>;
}

/** Processes that can send weights, and the transport. */
export interface Senders {
  readonly way: TransportKind;
  /** Returns at least one sender. */
  senders(): Promise<readonly Located[]>;
}

/** Open connections, one transfer group per process at a time, reused by later updates with the same members. */
export class TransferGroups {
  readonly #store: StreamStore;
  #open: readonly TransferGroup[] = [];
  #last = 0;

  constructor(store: StreamStore) {
    this.#store = store;
  }

  /**
   * Groups the members that receive an update. A folder is written once for all of them. @param alive names each
   * member's host
   */
  async of(
    source: Senders,
    members: readonly string[],
    alive: readonly { readonly member: string; readonly host: string }[],
  ): Promise<readonly TransferGroup[]> {
    const senders = await source.senders();
    if (source.way === "folder") return [{ number: 0, sender: senders[0]!.name, members }];
    const hosts = new Map(alive.map(({ member, host }) => [member, host]));
    const located = members.map((name) => ({ name, host: hosts.get(name) ?? "" }));
    return this.#connected(senders, located);
  }

  /** Drops the connections of groups that lost a member. @param received members that have all data */
  dropLost(groups: readonly TransferGroup[], received: ReadonlySet<string>): Promise<void> {
    const lost = groups.filter(({ members }) => !members.every((member) => received.has(member)));
    return this.#drop((group) => lost.includes(group));
  }

  async #connected(
    senders: readonly Located[],
    members: readonly Located[],
  ): Promise<readonly TransferGroup[]> {
    const groups = nodeGroups(senders, members).map((wanted) => {
      const names = namesOf(wanted);
      const same = this.#open.find((group) => namesOf(group).join() === names.join());
      return same ?? { number: ++this.#last, ...wanted };
    });
    const taken = new Set(groups.flatMap(namesOf));
    await this.#drop((group) => !groups.includes(group) && namesOf(group).some((name) => taken.has(name)));
    this.#open = [...new Set([...this.#open, ...groups])];
    return groups;
  }

  async #drop(which: (group: TransferGroup) => boolean): Promise<void> {
    const dropped = this.#open.filter(which);
    this.#open = this.#open.filter((group) => !dropped.includes(group));
    const { kv } = this.#store;
    for (const { number } of dropped)
      for (const key of (await kv.list(REGISTERS.transfer(number))).keys()) await kv.delete(key);
  }
}

const namesOf = ({ sender, members }: SenderGroup): readonly string[] => [sender, ...members];

/** Folders of earlier updates that may still be read. */
const KEPT = 2;

interface Offer {
  readonly folder: string;
  readonly version: number;
  /** sha256 by file name. */
  readonly files: Readonly<Record<string, string>>;
}

/** Folder for weights, as the coordinator set it. */
export async function weightsFolder(store: StreamStore): Promise<string> {
  const folder = await store.kv.get(REGISTERS.folder);
  if (folder !== undefined) return folder;
  throw new HoneError("HONE_ERR_STATE", "the coordinator named no folder for weights");
}

export interface FolderOptions {
  readonly store: StreamStore;
  /** Opens the weights that received files are read into. */
  readonly core: Pick<Core, "trainer">;
  /** Folder for weights that this process writes. */
  readonly folder: string;
}

const registerOf = ({ update }: TransferPlan) => `fleet/weights/${update}`;

/** Weights as folders that all processes see: the transport between processes of one machine. */
export class FolderTransport implements WeightTransport {
  readonly #options: FolderOptions;
  readonly #written: { readonly folder: string; readonly register: string }[] = [];
  /**
   * Trainers with received weights, by model and storage type; engines get snapshots. All engines of a run
   * share both.
   */
  readonly #holders = new Map<string, TrainerFace>();
  /** The offer from which each engine's weights came. */
  readonly #committed = new Map<string, Offer>();
  /** Register of the last offer that this process passed on. */
  #passedOn: string | undefined;

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  async send(plan: TransferPlan, trainer: TrainerFace): Promise<void> {
    const { store, folder: root } = this.#options;
    const folder = join(root, `weights-${plan.update}`);
    const register = registerOf(plan);
    await mkdir(root, { recursive: true });
    await trainer.saveModel(folder);
    const offer: Offer = { folder, version: trainer.version, files: await hashes(folder) };
    this.#written.push({ folder, register });
    await store.kv.set(register, JSON.stringify(offer));
    while (this.#written.length > KEPT) await this.#remove(this.#written.shift()!);
  }

  /** Offers the folder from which this actor read its weights, with the writer's hashes; writes nothing. */
  async relay(plan: TransferPlan, { engine }: EngineSpec): Promise<void> {
    const offer = this.#committed.get(engine);
    if (offer?.version !== plan.version)
      throw new HoneError(
        "HONE_ERR_STATE",
        `this process does not have weight version ${plan.version} of ${engine}, and cannot pass it on`,
      );
    await this.#forgetPassedOn();
    this.#passedOn = registerOf(plan);
    await this.#options.store.kv.set(this.#passedOn, JSON.stringify(offer));
  }

  /** Throws HONE_ERR_FORMAT for a file with a wrong hash, HONE_ERR_COLLECTIVE for a missing file. */
  async receive(plan: TransferPlan, spec: EngineSpec): Promise<StagedWeights> {
    const offer = await this.#offerOf(plan);
    const { folder, version, files } = offer;
    await expectFiles(folder, files);
    const holder = this.#holder(spec);
    await holder.loadHf(folder).catch(async (error: unknown) => {
      await expectFiles(folder, files); // a sender that leaves removes its files, even while they are being read
      throw error;
    });
    await holder.setVersion(version);
    return {
      commit: async (engine) => {
        await holder.publish(engine);
        this.#committed.set(spec.engine, offer);
      },
    };
  }

  /** Keeps the received weights, which engines share. */
  async forget(engine: string): Promise<void> {
    this.#committed.delete(engine);
  }

  async close(): Promise<void> {
    for (const { folder } of this.#written) await rm(folder, { recursive: true, force: true });
    await this.#forgetPassedOn().catch(() => {}); // the files of an unreachable store need no cleanup
    for (const holder of this.#holders.values()) await holder.close();
    this.#holders.clear();
  }

  async #offerOf(plan: TransferPlan): Promise<Offer> {
    const { withinMs: waitMs } = plan;
    const text = await this.#options.store.kv.waitFor(registerOf(plan), { waitMs });
    if (text === undefined)
      throw new HoneError(
        "HONE_ERR_COLLECTIVE",
        `received no weights of update ${plan.update} within ${waitMs} ms`,
      );
    const offer = JSON.parse(text) as Offer;
    if (offer.version === plan.version) return offer;
    throw new HoneError(
      "HONE_ERR_STATE",
      `${offer.folder} has version ${offer.version}, but version ${plan.version} was announced`,
    );
  }

  async #remove({ folder, register }: { folder: string; register: string }): Promise<void> {
    await this.#options.store.kv.delete(register);
    await rm(folder, { recursive: true, force: true });
  }

  async #forgetPassedOn(): Promise<void> {
    if (this.#passedOn !== undefined) await this.#options.store.kv.delete(this.#passedOn);
    this.#passedOn = undefined;
  }

  #holder({ config, options: { weightStorage, arithmetic = "f32", device } }: EngineSpec): TrainerFace {
    const key = JSON.stringify([config, weightStorage, arithmetic, device]);
    const holder =
      this.#holders.get(key) ??
      this.#options.core.trainer(config, {
        optimizer: NO_OPTIMIZER,
        packedTokens: 16,
        weightStorage,
        arithmetic,
        device: device ?? "cpu",
      });
    this.#holders.set(key, holder);
    return holder;
  }
}

async function expectFiles(folder: string, files: Offer["files"]): Promise<void> {
  const found = await hashes(folder).catch((cause: unknown) => {
    throw new HoneError("HONE_ERR_COLLECTIVE", `${folder} no longer exists`, { cause });
  });
  for (const [name, hash] of Object.entries(files)) {
    const file = join(folder, name);
    if (found[name] === undefined) throw new HoneError("HONE_ERR_COLLECTIVE", `${file} no longer exists`);
    if (found[name] !== hash)
      throw new HoneError("HONE_ERR_FORMAT", `${file} was changed after it was written: its hash differs`);
  }
}

async function hashes(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  const entries = names.map(async (name) => {
    const hash = createHash("sha256");
    await pipeline(createReadStream(join(folder, name)), hash);
    return [name, hash.digest("hex")] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}
