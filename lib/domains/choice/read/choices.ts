import { CounterRandom } from "../../../random.ts";

export const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Options as a question shows them, with what the verifier `choice` and a report need. */
export interface Choices {
  readonly lines: string;
  /** Letter of the right one. */
  readonly answer: string;
  /** Place in the row of the option shown first, second, ...; the row's own order without a seed. */
  readonly order: readonly number[];
}

/**
 * Letters the options, shuffled by (seed, content) where there is a seed: the order of a row does not depend on the
 * rows around it. @param right place of the right option in the row.
 */
export function letterChoices(
  options: readonly string[],
  right: number,
  content: string,
  seed: number | undefined,
  mark: ")" | ".",
): Choices {
  const places = options.map((_, place) => place);
  const order = seed === undefined ? places : new CounterRandom(seed, wordOf(content)).shuffle(places);
  const lines = order.map((place, i) => `${LETTERS[i]}${mark} ${options[place]}`).join("\n");
  return { lines, answer: LETTERS[order.indexOf(right)]!, order };
}

/** 32-bit FNV-1a over UTF-16 code units: names the stream of draws that belongs to a content. */
function wordOf(content: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < content.length; i++) hash = Math.imul(hash ^ content.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
