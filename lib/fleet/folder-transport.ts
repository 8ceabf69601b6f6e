import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { HoneError } from "../errors.ts";
import { NO_OPTIMIZER } from "../inference/model-folder.ts";
import type { TrainerFace } from "../native/face.ts";
import type { Core } from "../orchestration/index.ts";
import type { StreamStore } from "../streams/index.ts";
import type { EngineSpec, TransferPlan } from "./messages.ts";
import { REGISTERS } from "./names.ts";
import type { StagedWeights, WeightReceiver, WeightSender } from "./transport.ts";

/** Folders of earlier updates that may still be read. */
const KEPT = 2;

interface Offer {
  readonly folder: string;
  readonly version: number;
  /** sha256 by name of file. */
  readonly files: Readonly<Record<string, string>>;
}

/** Folder for weights, as the coordinator set it. */
export async function weightsFolder(store: StreamStore): Promise<string> {
  const folder = await store.kv.get(REGISTERS.folder);
  if (folder !== undefined) return folder;
  throw new HoneError("HONE_ERR_STATE", "the coordinator named no folder for weights");
}

const registerOf = ({ update }: TransferPlan) => `fleet/weights/${update}`;

/** Weights as folders that all processes see: the way between processes of one machine. */
export class FolderSender implements WeightSender {
  readonly #store: StreamStore;
  readonly #root: string;
  readonly #written: { readonly folder: string; readonly register: string }[] = [];

  constructor(store: StreamStore, root: string) {
    this.#store = store;
    this.#root = root;
  }

  async send(plan: TransferPlan, trainer: TrainerFace): Promise<void> {
    const folder = join(this.#root, `weights-${plan.update}`);
    const register = registerOf(plan);
    await mkdir(this.#root, { recursive: true });
    await trainer.saveModel(folder);
    const offer: Offer = { folder, version: trainer.version, files: await hashes(folder) };
    this.#written.push({ folder, register });
    await this.#store.kv.set(register, JSON.stringify(offer));
    while (this.#written.length > KEPT) await this.#remove(this.#written.shift()!);
  }

  async close(): Promise<void> {
    for (const { folder } of this.#written) await rm(folder, { recursive: true, force: true });
  }

  async #remove({ folder, register }: { folder: string; register: string }): Promise<void> {
    await this.#store.kv.delete(register);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads them into weights of its own, which engines are given snapshots of. */
export class FolderReceiver implements WeightReceiver {
  readonly #store: StreamStore;
  readonly #core: Pick<Core, "trainer">;
  readonly #waitMs: number;
  /** Weights by model and storage: the engines of a run have one of both. */
  readonly #holders = new Map<string, TrainerFace>();
  /** Offer that each engine's weights came from. */
  readonly #committed = new Map<string, Offer>();
  /** Register of the last offer that this actor passed on. */
  #passedOn: string | undefined;

  constructor(store: StreamStore, core: Pick<Core, "trainer">, waitMs: number) {
    this.#store = store;
    this.#core = core;
    this.#waitMs = waitMs;
  }

  /** Throws HONE_ERR_FORMAT for a file that is not the one that was written, HONE_ERR_COLLECTIVE for one that is gone. */
  async receive(plan: TransferPlan, spec: EngineSpec): Promise<StagedWeights> {
    const text = await this.#store.kv.waitFor(registerOf(plan), { waitMs: this.#waitMs });
    if (text === undefined)
      throw new HoneError("HONE_ERR_COLLECTIVE", `no weights of update ${plan.update} in ${this.#waitMs} ms`);
    const offer = JSON.parse(text) as Offer;
    const { folder, version, files } = offer;
    if (version !== plan.version)
      throw new HoneError(
        "HONE_ERR_STATE",
        `${folder} has version ${version}, announced was ${plan.version}`,
      );
    await expectFiles(folder, files);
    const holder = this.#holder(spec);
    await holder.loadHf(folder).catch(async (error: unknown) => {
      await expectFiles(folder, files); // a sender that leaves removes its files, also while they are read
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

  /** Offers the folder that the weights came from, with its writer's hashes; writes nothing. */
  async send(plan: TransferPlan, { engine }: EngineSpec): Promise<void> {
    const offer = this.#committed.get(engine);
    if (offer?.version !== plan.version)
      throw new HoneError("HONE_ERR_STATE", `version ${plan.version} of ${engine} was not committed here`);
    await this.#forgetPassedOn();
    this.#passedOn = registerOf(plan);
    await this.#store.kv.set(this.#passedOn, JSON.stringify(offer));
  }

  /** Staged weights are not kept per engine. */
  async forget(engine: string): Promise<void> {
    this.#committed.delete(engine);
  }

  async close(): Promise<void> {
    await this.#forgetPassedOn().catch(() => {}); // a store that is gone keeps nothing
    for (const holder of this.#holders.values()) await holder.close();
    this.#holders.clear();
  }

  async #forgetPassedOn(): Promise<void> {
    if (this.#passedOn !== undefined) await this.#store.kv.delete(this.#passedOn);
    this.#passedOn = undefined;
  }

  #holder({ config, options: { weightStorage, arithmetic = "f32", device } }: EngineSpec): TrainerFace {
    const key = JSON.stringify([config, weightStorage, arithmetic, device]);
    const holder =
      this.#holders.get(key) ??
      this.#core.trainer(config, {
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
    throw new HoneError("HONE_ERR_COLLECTIVE", `${folder} is no more there`, { cause });
  });
  for (const [name, hash] of Object.entries(files)) {
    const file = join(folder, name);
    if (found[name] === undefined) throw new HoneError("HONE_ERR_COLLECTIVE", `${file} is no more there`);
    if (found[name] !== hash)
      throw new HoneError("HONE_ERR_FORMAT", `${file} is not what was written: its hash differs`);
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
