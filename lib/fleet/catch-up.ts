import type { Located } from "../shared/weights/weight-update.ts";
import type { MemberStatus, Membership } from "./membership.ts";
import type { Published } from "./published.ts";
import type { Updates } from "./updates.ts";

/** The live actors that can send their weights to other actors. */
const ableAmong = (alive: readonly MemberStatus[], { members, unable }: Published): Located[] =>
  alive
    .filter(({ member }) => members.has(member) && !unable.has(member))
    .map(({ member, host }) => ({ name: member, host }));

/**
 * Brings the current weights to actors that missed them, after each poll of the members: from actors that have them,
 * independent of the trainer; if there are none, from the trainer while it is idle. Unreachable actors wait for the
 * next poll.
 */
export class CatchUp {
  readonly #updates: Updates;
  readonly #members: Membership;
  #underWay: Promise<void> | undefined;

  constructor(updates: Updates, members: Membership) {
    this.#updates = updates;
    this.#members = members;
    members.onLook(() => {
      this.#underWay ??= this.#all().finally(() => {
        this.#underWay = undefined;
      });
    });
  }

  async #all(): Promise<void> {
    const updates = this.#updates;
    for (const [engine, published] of updates.published) {
      const late = updates.published.lagging(engine).filter((member) => !updates.isLate(member));
      if (late.length === 0 || updates.isPublishing) continue;
      const { source, state } = published;
      const able = ableAmong(this.#members.alive, published);
      if (able.length > 0) await updates.relay(engine, published, able, late);
      else if (updates.isIdle && source.state === state)
        await updates.exclusive(() => updates.bring(engine, published, source, late)).catch(() => {});
    }
  }
}
