import type { ProcessStatus } from "../metrics/index.ts";
import { memberName, predecessors } from "./names.ts";
import type { RankStatus } from "./rank-heartbeat.ts";
import type { MemberStatus, Roster } from "./roster.ts";
import type { PlaceStatus } from "./supervisor.ts";
import { TokenRate } from "./token-rate.ts";
import type { Updates } from "./updates.ts";

/** The processes of a fleet for people: those that the supervisor holds, and those that came by themselves. */
export class ProcessList {
  /** Places whose processes this machine's supervisor restarts. */
  places: () => readonly PlaceStatus[] = () => [];
  readonly #roster: Roster;
  readonly #updates: Updates;
  readonly #rates = new Map<string, TokenRate>();
  /** Ranks of the trainer, where agents started them. */
  ranks: readonly RankStatus[] = [];
  /** Addresses of processes' metrics, for Prometheus, by process name. */
  metrics: ReadonlyMap<string, string> = new Map();

  constructor(roster: Roster, updates: Updates) {
    this.#roster = roster;
    this.#updates = updates;
  }

  /** Call it about once a second. Actors first, each in the order of its rank. */
  look(): ProcessStatus[] {
    const places = this.places();
    const own = places.map((place) => this.#inPlace(place));
    const known = new Set(own.map(({ name }) => name));
    const others = [...this.#roster.alive, ...this.#roster.hosts].map((member) => ({
      name: member.place,
      pid: member.pid,
      state: "alive" as const,
      restarts: predecessors(member.member),
      ...this.#work(member),
    }));
    const ranks = this.ranks.map(({ rank, epoch, pid }) => {
      return { name: `trainer.${rank}`, pid, state: "alive" as const, restarts: epoch - 1, doing: "" };
    });
    const rows: ProcessStatus[] = [...own, ...[...others, ...ranks].filter(({ name }) => !known.has(name))];
    const named = new Set(rows.map(({ name }) => name));
    const heardOf = [...this.metrics.keys()].filter((name) => !named.has(name));
    const all = [
      ...rows,
      ...heardOf.map((name) => ({ name, state: "alive" as const, restarts: 0, doing: "" })),
    ];
    return all.map((row) => ({ ...row, ...this.#address(row.name) }));
  }

  #address(name: string): Pick<ProcessStatus, "metrics"> {
    const metrics = this.metrics.get(name);
    return metrics === undefined ? {} : { metrics };
  }

  #inPlace({ role, rank, epoch, pid, restarts, ended }: PlaceStatus): ProcessStatus {
    const base = { name: `${role}.${rank}`, pid, restarts, ...(ended && { ended }) };
    if (pid === undefined) return { ...base, state: "gone", doing: "is started again" };
    if (role === "trainer") return { ...base, state: "alive", doing: "" };
    const member = memberName(`${role}.${rank}`, epoch);
    const alive = role === "actor" ? this.#roster.alive : this.#roster.hosts;
    const found = alive.find((each) => each.member === member);
    if (found !== undefined) return { ...base, state: "alive", ...this.#work(found) };
    if (this.#roster.wasLost(member)) return { ...base, state: "silent", doing: "sends no heartbeat" };
    return { ...base, state: "starting", doing: "begins" };
  }

  #work({
    member,
    engines,
    judging,
  }: MemberStatus): Pick<ProcessStatus, "version" | "lag" | "tokensPerSecond" | "doing"> {
    if (judging !== undefined) return { doing: judgingWords(judging) };
    const all = Object.entries(engines);
    const sum = (of: "running" | "decodeTokens") => all.reduce((n, [, stats]) => n + stats[of], 0);
    const versions = all.map(([name, { version }]) => {
      const current = this.#updates.version(name) ?? version;
      // a member that has the weights may use them; its next heartbeat reports that it does
      return { current, own: this.#updates.lagging(name).includes(member) ? version : current };
    });
    const lag = Math.max(0, ...versions.map(({ current, own }) => current - own));
    const running = sum("running");
    const doing = running > 0 ? `samples ${running}` : lag > 0 ? "waits for weights" : "waits for requests";
    const tokensPerSecond = this.#rate(member, sum("decodeTokens"));
    return { version: versions[0]?.own ?? 0, lag, tokensPerSecond, doing };
  }

  #rate(member: string, tokens: number): number {
    const rate = this.#rates.get(member) ?? new TokenRate();
    this.#rates.set(member, rate);
    return rate.at(tokens);
  }
}

function judgingWords({ jobs, judged }: NonNullable<MemberStatus["judging"]>): string {
  const now = jobs > 0 ? `judges in ${jobs} ${jobs === 1 ? "worker" : "workers"}` : "waits for completions";
  return `${now}, ${judged} judged`;
}
