import { SteadyClock } from "../clock.ts";
import type { MemberStatus, Membership } from "./membership.ts";
import { type FleetSettings, memberName } from "./names.ts";
import type { Supervisor } from "./supervisor.ts";

/** Least number of processors that ranks which compute use together; below it they only wait. */
const LEAST_WORK = 0.1;
/** Windows of `stallMs` over which the work is measured. */
const WINDOWS = 10;

type Lost = { readonly rank: number; readonly why: string };

/**
 * Finds trainer ranks of one epoch that make no progress. A rank whose heartbeat has stopped is lost: suspended, or
 * its machine failed. Ranks with a heartbeat that are in a call, and neither finish it nor use a processor, are hung.
 */
export class RankWatch implements Disposable {
  readonly #settings: FleetSettings;
  readonly #onLost: (rank: number, why: string) => void;
  readonly #clock: { now(): number } & Partial<Disposable>;
  #epoch = 0;
  /** For each rank the last time at which it was seen alive, and whether it ever was. */
  #seen: { readonly alive: boolean; readonly at: number }[] = [];
  #progress = { at: 0, done: 0 };
  #window = { at: 0, cpuSeconds: 0 };

  /** @param onLost called once per epoch with the rank to end */
  constructor(
    settings: FleetSettings,
    onLost: (rank: number, why: string) => void,
    clock: { now(): number } & Partial<Disposable> = new SteadyClock(),
  ) {
    this.#settings = settings;
    this.#onLost = onLost;
    this.#clock = clock;
  }

  /** Begins to watch the ranks of an epoch that is being started. */
  form(epoch: number, size: number): void {
    const at = this.#clock.now();
    this.#epoch = epoch;
    this.#seen = Array.from({ length: size }, () => ({ alive: false, at }));
    this.#progress = { at, done: 0 };
    this.#window = { at, cpuSeconds: 0 };
  }

  /** @param ranks the ranks that send heartbeats */
  look(ranks: readonly MemberStatus[]): void {
    const current = ranks.filter(({ generation }) => generation === this.#epoch);
    const at = this.#clock.now();
    for (const { index } of current) if (index < this.#seen.length) this.#seen[index] = { alive: true, at };
    const lost = this.#silent(current) ?? this.#stalled(current);
    if (lost === undefined) return;
    this.#seen = []; // reports only once per epoch
    this.#onLost(lost.rank, lost.why);
  }

  [Symbol.dispose](): void {
    this.#clock[Symbol.dispose]?.();
  }

  #silent(ranks: readonly MemberStatus[]): Lost | undefined {
    const now = this.#clock.now();
    const here = new Set(ranks.map(({ index }) => index));
    const rank = this.#seen.findIndex(
      ({ alive, at }, index) => !here.has(index) && (alive || now - at > this.#settings.gatherMs),
    );
    if (rank < 0) return undefined;
    const { alive, at } = this.#seen[rank]!;
    // the lease lasted for that long after the last renewal
    return { rank, why: `it was silent for ${seconds(now - at + (alive ? this.#settings.aliveMs : 0))}` };
  }

  #stalled(ranks: readonly MemberStatus[]): Lost | undefined {
    const now = this.#clock.now();
    const work = this.#seen.length === 0 ? [] : ranks.flatMap(({ training }) => training ?? []);
    const done = work.reduce((sum, each) => sum + each.done, 0);
    if (!work.some(({ busy }) => busy) || done !== this.#progress.done || this.#works(work))
      this.#progress = { at: now, done };
    const { stallMs } = this.#settings;
    if (now - this.#progress.at <= stallMs) return undefined;
    const { index } = ranks.find(({ training }) => training?.busy)!;
    return { rank: index, why: `no rank made progress for ${seconds(stallMs)}` };
  }

  /** True if work was seen in the window that ends now, or if no window ends now. */
  #works(work: readonly { readonly cpuSeconds: number }[]): boolean {
    const now = this.#clock.now();
    const ms = now - this.#window.at;
    if (ms < this.#settings.stallMs / WINDOWS) return false;
    const cpuSeconds = work.reduce((sum, each) => sum + each.cpuSeconds, 0);
    const used = cpuSeconds - this.#window.cpuSeconds;
    this.#window = { at: now, cpuSeconds };
    return used * 1000 > ms * LEAST_WORK;
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

/** Ends actors and verifier hosts that run without a heartbeat, or never had one: stopped, or hanging. */
export function endSilent(
  supervisor: Supervisor,
  membership: Membership,
  { beginMs }: Pick<FleetSettings, "beginMs">,
): void {
  for (const { role, rank, epoch, startedMs } of supervisor.statuses) {
    if (role === "trainer") continue; // RankWatch watches trainers
    const member = memberName(`${role}.${rank}`, epoch);
    const neverBegan = !membership.wasSeen(member) && performance.now() - startedMs > beginMs;
    if (neverBegan || membership.wasLost(member)) supervisor.endHung(role, rank);
  }
}
