import { CounterRandom } from "../../../random.ts";

export const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Options as a question shows them, with what the verifier `choice` and a report need. */
export interface Choices {
  readonly lines: string;
  /** Letter of the right option. */
  readonly answer: string;
  /** Order in which options are shown, as indices into the row's options; without a seed the row's own order. */
  readonly order: readonly number[];
}

/**
 * Assigns letters to the options. With a seed, shuffles them by (seed, content), so that a row's order does not
 * depend on the rows around it. @param right index of the right option in the row.
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
