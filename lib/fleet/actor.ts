import { setMaxListeners } from "node:events";
import type { EngineFace } from "../native/face.ts";
import type { Core } from "../orchestration/index.ts";
import { deferred } from "../shared/async/deferred.ts";
import { ActorEngine, type EngineWeights } from "./actor-engine.ts";
import { MemberHeartbeat, type MemberParts } from "./heartbeat.ts";
import { fleetSettings } from "./membership.ts";
import {
  type Control,
  decodeControl,
  type EngineSpec,
  encodeAnswer,
  faultText,
  membersOf,
  type TransferPlan,
} from "./messages.ts";
import { type FleetSettings, STREAMS } from "./names.ts";
import type { RoleFacts } from "./role-metrics.ts";
import type { StagedWeights, WeightTransport } from "./transport.ts";

export interface ActorParts extends MemberParts {
  readonly core: Pick<Core, "engine">;
  readonly transport: Omit<WeightTransport, "send">;
  /** Receives the function that reports the actor's facts; called once. */
  readonly onFacts?: (facts: () => RoleFacts) => void;
  readonly signal: AbortSignal;
}

/**
 * Runs an actor process: opens the engines that the coordinator requests, takes weight updates, and samples requests
 * while it has capacity. Resolves when `signal` aborts. Rejects with the error that ended it, after which a new process
 * may replace it: HONE_ERR_STATE if it missed heartbeats for so long that it already was replaced.
 */
export async function runActor(parts: ActorParts): Promise<void> {
  const settings = await fleetSettings(parts.store);
  const actor = new Actor(parts, settings);
  try {
    await actor.run();
  } catch (error) {
    if (!parts.signal.aborted) throw error;
  } finally {
    await actor.close();
  }
}

/** Weights of one engine of an actor: the current ones, and those received but not yet committed. */
export class ActorWeights implements EngineWeights {
  readonly #transport: ActorParts["transport"];
  readonly #spec: EngineSpec;
  #version: number | undefined;
  /** Weight version with which actors may sample, even if this actor does not have it. */
  #current: number | undefined;
  /** An update was announced and has not ended. */
  #updating = false;
  #staged: { readonly update: number; readonly weights: StagedWeights } | undefined;

  constructor(transport: ActorParts["transport"], spec: EngineSpec) {
    this.#transport = transport;
    this.#spec = spec;
  }

  get version(): number | undefined {
    return this.#version;
  }

  get areCurrent(): boolean {
    return !this.#updating && this.#version !== undefined && this.#version === this.#current;
  }

  has(version: number): boolean {
    return this.#version !== undefined && version <= this.#version;
  }

  /** How many versions this actor is behind. */
  get lag(): number {
    const version = this.#version ?? 0;
    return (this.#current ?? version) - version;
  }

  /** First phase of an update: receives and checks the weights. No engine uses them yet. */
  async receive(plan: TransferPlan, me: string): Promise<void> {
    this.#updating = true;
    const weights = await this.#transport.receive(plan, this.#spec, me);
    this.#staged = { update: plan.update, weights };
  }

  /** Sends weights as one of the plan's senders. Sampling continues meanwhile: the engine has its own copy. */
  relay(plan: TransferPlan, me: string): Promise<void> {
    return this.#transport.relay(plan, this.#spec, me);
  }

  /** Second phase of an update. @param engine undefined if this actor did not receive the weights */
  async commit(update: number, version: number, engine: EngineFace | undefined): Promise<void> {
    const staged = this.#staged;
    this.#staged = undefined;
    this.#updating = false;
    this.#current = version;
    if (engine === undefined || staged?.update !== update) return; // an actor that already had this version has nothing staged
    await staged.weights.commit(engine);
    this.#version = version;
  }
}

interface OpenEngine {
  readonly engine: ActorEngine;
  readonly weights: ActorWeights;
}

class Actor {
  readonly #parts: ActorParts;
  readonly #settings: FleetSettings;
  readonly #heartbeat: MemberHeartbeat;
  readonly #engines = new Map<string, OpenEngine>();
  readonly #failed = deferred<never>();
  readonly #stop = new AbortController();

  constructor(parts: ActorParts, settings: FleetSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#heartbeat = new MemberHeartbeat("actor", parts, settings, () => {
      return {
        engines: Object.fromEntries([...this.#engines].map(([name, { engine }]) => [name, engine.stats()])),
      };
    });
    this.#failed.promise.catch(() => {}); // avoids an unhandled rejection: Promise.race calls handle the error
    setMaxListeners(0, this.#stop.signal);
    if (parts.signal.aborted) this.#stop.abort();
    parts.signal.addEventListener("abort", () => this.#stop.abort(), { once: true });
  }

  async run(): Promise<void> {
    await this.#heartbeat.begin(this.#fail);
    this.#parts.onFacts?.(() => this.#facts());
    await Promise.race([this.#obey(), this.#failed.promise]);
  }

  async close(): Promise<void> {
    this.#heartbeat.stop();
    this.#stop.abort();
    await Promise.all([...this.#engines.values()].map(({ engine }) => engine.close()));
    await this.#parts.transport.close();
  }

  #facts(): RoleFacts {
    const all = [...this.#engines.values()].map(({ engine, weights }) => {
      const { version, decodeTokens } = engine.stats();
      return { version, tokens: decodeTokens, lag: weights.lag };
    });
    return {
      version: Math.max(0, ...all.map(({ version }) => version)),
      lag: Math.max(0, ...all.map(({ lag }) => lag)),
      tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
      restarts: this.#parts.generation - 1,
    };
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#stop.signal.aborted) this.#failed.reject(error);
  };

  async #obey(): Promise<void> {
    const { store } = this.#parts;
    const { signal } = this.#stop;
    for (let after = 0; !signal.aborted; ) {
      const entries = await store.read(STREAMS.control, after, { max: 64, waitMs: 60_000, signal });
      for (const { payload, offset } of entries) {
        await this.#do(decodeControl(payload));
        after = offset;
      }
    }
  }

  async #do(control: Control): Promise<void> {
    if (control.kind === "open") return this.#open(control);
    const open = this.#engines.get(control.engine);
    if (open === undefined) return; // the engine was closed before this actor started
    const { engine, weights } = open;
    if (control.kind === "close") {
      this.#engines.delete(control.engine);
      await this.#parts.transport.forget(control.engine);
      return engine.close();
    }
    if (control.kind === "abort") return engine.abort(control.request);
    if (control.kind === "update") return this.#update(control, open);
    const { update, version, members } = control;
    const mine = members.includes(this.#heartbeat.holder);
    await weights.commit(update, version, mine ? engine.face : undefined);
    return engine.resume(mine, members.length);
  }

  async #open(spec: Control & { readonly kind: "open" }): Promise<void> {
    const { store, core, transport } = this.#parts;
    if (this.#engines.has(spec.engine)) return;
    const weights = new ActorWeights(transport, spec);
    const own = {
      settings: this.#settings,
      member: this.#heartbeat.holder,
      onFailure: this.#fail,
      expectAlive: this.#heartbeat.expectAlive,
    };
    const engine = new ActorEngine(spec, { store, core, ...own }, weights);
    this.#engines.set(spec.engine, { engine, weights });
  }

  async #update(plan: TransferPlan, open: OpenEngine): Promise<void> {
    const { holder: member } = this.#heartbeat;
    const sends = plan.groups.some(({ sender }) => sender === member);
    if (!sends && !membersOf(plan).includes(member)) return;
    const fault = await (sends ? this.#relay(plan, open) : this.#receive(plan, open)).then(
      () => undefined,
      (error: unknown) => faultText(error),
    );
    const answer = encodeAnswer({ update: plan.update, member, ...(fault && { fault }) });
    await this.#parts.store.append(STREAMS.answers, `${plan.update}/${member}`, answer);
  }

  async #receive(plan: TransferPlan, { engine, weights }: OpenEngine): Promise<void> {
    const received = weights.receive(plan, this.#heartbeat.holder);
    engine.pause();
    await received;
  }

  /** Sends nothing if this actor has been replaced. */
  async #relay(plan: TransferPlan, { weights }: OpenEngine): Promise<void> {
    this.#heartbeat.expectAlive();
    await weights.relay(plan, this.#heartbeat.holder);
  }
}
