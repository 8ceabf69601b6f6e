import { HoneError } from "../../../errors.ts";
import { type Model, search } from "./finite-domain.ts";

const MAX_ATTEMPTS = 20_000;

/**
 * Repeats `attempt` until it gives a result. Throws HONE_ERR_DATA after 20,000 tries, which shows a fault of the
 * generator, not of the random stream.
 */
export function drawUntil<Made>(attempt: () => Made | undefined): Made {
  for (let i = 0; i < MAX_ATTEMPTS; i++) {
    const made = attempt();
    if (made !== undefined) return made;
  }
  throw new HoneError("HONE_ERR_DATA", `a puzzle generator drew nothing usable in ${MAX_ATTEMPTS} attempts`);
}

/** True if the model has one solution and the search finished. */
export function hasOneSolution(model: Model, maxNodes = 2000): boolean {
  const { solutions, complete } = search(model, { limit: 2, maxNodes });
  return complete && solutions.length === 1;
}

/**
 * Removes items in the given order as long as `holds` is true for the removed ones; at most `target` of them. Tries
 * many at once and halves on failure, so that easy targets need few proofs.
 */
export function carve<Item>(
  items: readonly Item[],
  target: number,
  holds: (taken: readonly Item[]) => boolean,
): Item[] {
  let taken: Item[] = [];
  let step = target;
  for (let at = 0; at < items.length && taken.length < target; ) {
    const next = items.slice(at, at + Math.min(step, target - taken.length));
    if (holds([...taken, ...next])) {
      taken = [...taken, ...next];
      at += next.length;
    } else if (next.length === 1) at += 1;
    else step = Math.ceil(next.length / 2);
  }
  return taken;
}
