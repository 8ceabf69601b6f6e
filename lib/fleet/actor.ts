import { setMaxListeners } from "node:events";
import { deferred } from "../deferred.ts";
import { HoneError } from "../errors.ts";
import type { Core } from "../orchestration/index.ts";
import type { StreamStore } from "../streams/index.ts";
import { ActorEngine } from "./actor-engine.ts";
import { MemberHeartbeat, type MemberParts } from "./heartbeat.ts";
import {
  type Control,
  decodeControl,
  encodeAnswer,
  faultText,
  membersOf,
  type TransferPlan,
} from "./messages.ts";
import { type FleetSettings, REGISTERS, STREAMS } from "./names.ts";
import type { RoleFacts } from "./role-metrics.ts";
import type { WeightReceiver } from "./transport.ts";

export interface ActorParts extends MemberParts {
  readonly core: Pick<Core, "engine">;
  readonly receiver: WeightReceiver;
  /** Told what to ask for how it is; called once. */
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

/** Settings that the coordinator wrote for all processes. Throws HONE_ERR_STATE if there are none. */
export async function fleetSettings(store: StreamStore): Promise<FleetSettings> {
  const text = await store.kv.waitFor(REGISTERS.settings, { waitMs: 60_000 });
  if (text !== undefined) return JSON.parse(text) as FleetSettings;
  throw new HoneError("HONE_ERR_STATE", "no coordinator has opened a fleet in this store", {
    hint: "Start the run first: `hone run` with hardware.processes, and --store where this process looks.",
  });
}

class Actor {
  readonly #parts: ActorParts;
  readonly #settings: FleetSettings;
  readonly #heartbeat: MemberHeartbeat;
  readonly #engines = new Map<string, ActorEngine>();
  /** Version that actors may sample with, by engine. */
  readonly #current = new Map<string, number>();
  readonly #failed = deferred<never>();
  readonly #stop = new AbortController();

  constructor(parts: ActorParts, settings: FleetSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#heartbeat = new MemberHeartbeat("actor", parts, settings, () => {
      return { engines: Object.fromEntries([...this.#engines].map(([name, each]) => [name, each.stats()])) };
    });
    this.#failed.promise.catch(() => {}); // the races below handle it
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
    await Promise.all([...this.#engines.values()].map((engine) => engine.close()));
    await this.#parts.receiver.close();
  }

  #facts(): RoleFacts {
    const all = [...this.#engines].map(([name, engine]) => {
      const { version, decodeTokens } = engine.stats();
      return { version, tokens: decodeTokens, lag: (this.#current.get(name) ?? version) - version };
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
    const engine = this.#engines.get(control.engine);
    if (control.kind === "open") return this.#open(control);
    if (engine === undefined) return; // closed meanwhile, and said before this actor was there
    if (control.kind === "close") {
      this.#engines.delete(control.engine);
      await this.#parts.receiver.forget(control.engine);
      return engine.close();
    }
    if (control.kind === "abort") return engine.abort(control.request);
    if (control.kind === "update") return this.#update(control, engine);
    const { update, version, members } = control;
    this.#current.set(control.engine, version);
    return engine.commit(update, version, members.includes(this.#heartbeat.holder), members.length);
  }

  async #open(spec: Control & { readonly kind: "open" }): Promise<void> {
    const { store, core } = this.#parts;
    if (this.#engines.has(spec.engine)) return;
    const engine = new ActorEngine(spec, {
      store,
      core,
      settings: this.#settings,
      member: this.#heartbeat.holder,
      onFailure: this.#fail,
      expectAlive: this.#heartbeat.expectAlive,
    });
    this.#engines.set(spec.engine, engine);
  }

  async #update(plan: TransferPlan, engine: ActorEngine): Promise<void> {
    const { holder: member } = this.#heartbeat;
    const sends = plan.groups.some(({ sender }) => sender === member);
    if (!sends && !membersOf(plan).includes(member)) return;
    const fault = await (sends ? this.#send(plan, engine) : this.#receive(plan, engine)).then(
      () => undefined,
      (error: unknown) => faultText(error),
    );
    const answer = encodeAnswer({ update: plan.update, member, ...(fault && { fault }) });
    await this.#parts.store.append(STREAMS.answers, `${plan.update}/${member}`, answer);
  }

  async #receive(plan: TransferPlan, engine: ActorEngine): Promise<void> {
    engine.expect();
    engine.stage(plan.update, await this.#parts.receiver.receive(plan, engine.spec, this.#heartbeat.holder));
  }

  /** Sampling goes on meanwhile: an engine has a copy of its own. One whose place was taken sends nothing. */
  async #send(plan: TransferPlan, engine: ActorEngine): Promise<void> {
    this.#heartbeat.expectAlive();
    await this.#parts.receiver.send(plan, engine.spec, this.#heartbeat.holder);
  }
}
