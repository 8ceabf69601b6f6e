import { hostname } from "node:os";
import { HoneError } from "../errors.ts";
import type { StreamStore } from "../streams/index.ts";
import { type FleetSettings, memberName, type PlaceName, REGISTERS } from "./names.ts";
import type { Beat } from "./roster.ts";

/** Identity of a process that fills a place of its own. */
export interface MemberParts {
  readonly store: StreamStore;
  /** Index among the processes of its role: 0, 1, ... */
  readonly index: number;
  /** Generation of the process in its place; a later one replaces an earlier one. */
  readonly generation: number;
  /** Machine it runs on. Default: this machine's name. */
  readonly host?: string;
}

/** Publishes a member's heartbeat and status for as long as it holds its place. */
export class MemberHeartbeat {
  readonly member: string;
  readonly #parts: MemberParts;
  readonly #settings: FleetSettings;
  readonly #place: PlaceName;
  readonly #word: () => Pick<Beat, "engines" | "judging">;
  #timer: NodeJS.Timeout | undefined;
  #shownAt = performance.now();

  /** @param word all there is to know of it at this moment */
  constructor(
    role: "actor" | "verifier",
    parts: MemberParts,
    settings: FleetSettings,
    word: () => Pick<Beat, "engines" | "judging">,
  ) {
    this.#place = `${role}.${parts.index}`;
    this.member = memberName(this.#place, parts.generation);
    this.#parts = parts;
    this.#settings = settings;
    this.#word = word;
  }

  /** Resolves after the first one. @param onFailure of the store; HONE_ERR_STATE where its place was taken */
  async begin(onFailure: (error: unknown) => void): Promise<void> {
    await this.#show();
    this.#timer = setInterval(() => void this.#show().catch(onFailure), this.#settings.beatMs);
  }

  /** Throws HONE_ERR_STATE for a process that was stopped and goes on: it must not write any more. */
  readonly expectAlive = (): void => {
    if (performance.now() - this.#shownAt > this.#settings.aliveMs) throw lostTrack(this.member);
  };

  close(): void {
    clearInterval(this.#timer);
  }

  async #show(): Promise<void> {
    this.expectAlive();
    const { kv } = this.#parts.store;
    const begun = performance.now();
    if (!(await kv.setLease(REGISTERS.beat(this.#place), this.member, this.#settings.aliveMs)))
      throw lostTrack(this.member);
    this.#shownAt = begun;
    const { host = hostname() } = this.#parts;
    const beat: Beat = { member: this.member, pid: process.pid, host, ...this.#word() };
    await kv.set(REGISTERS.word(this.#place), JSON.stringify(beat));
  }
}

/** The end of a process that another took the place of. */
const lostTrack = (what: string): HoneError =>
  new HoneError("HONE_ERR_STATE", `${what}: this process was out of touch for too long and was replaced`);
