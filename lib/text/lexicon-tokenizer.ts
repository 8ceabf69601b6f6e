import { HoneError } from "../errors.ts";
import type { DecodeOptions, EncodeOptions, TextStream, Tokenizer } from "./tokenizer.ts";

const SPECIAL_SPELLINGS = ["<pad>", "<bos>", "<eos>", "<think>", "</think>"] as const;
const SPECIAL_IDS = { pad: 0, bos: 1, eos: 2, think: 3, endThink: 4 } as const;
const FIRST_CHARACTER = 32;
const LAST_CHARACTER = 126;
const SPELLED = /^[ -~\n]*$/;

/** Spellings of at least two characters by their first two, longest first. */
type LongSpellings = ReadonlyMap<number, readonly { readonly spelling: string; readonly id: number }[]>;

/** Key of the two characters at a position; past the end it is NaN, which no map contains. */
const pairAt = (text: string, at: number) => text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1);

/**
 * Tokens are five specials, the 95 printable ASCII characters, the newline, and whole words; text is split by
 * the longest match at each position. A space is a token of its own and words carry none, so that copying a
 * word from the prompt is the identity on ids: small models learn that, and do not learn the map between
 * "word" and " word".
 */
export class LexiconTokenizer implements Tokenizer {
  readonly special = SPECIAL_IDS;
  readonly #spellings: readonly string[];
  readonly #characters = new Map<number, number>();
  readonly #withSpecials: LongSpellings;
  readonly #withoutSpecials: LongSpellings;

  /** @param words printable ASCII, at least two characters, distinct; ids follow their order. */
  constructor(words: readonly string[]) {
    const characters = Array.from({ length: LAST_CHARACTER - FIRST_CHARACTER + 1 }, (_, i) =>
      String.fromCharCode(FIRST_CHARACTER + i),
    );
    const bad = words.find((word) => !/^[ -~\n]{2,}$/.test(word));
    if (bad !== undefined) {
      throw new HoneError(
        "HONE_ERR_CONFIG",
        `lexicon word ${JSON.stringify(bad)} is not >= 2 ASCII characters`,
      );
    }
    this.#spellings = [...SPECIAL_SPELLINGS, ...characters, "\n", ...words];
    if (new Set(this.#spellings).size !== this.#spellings.length) {
      throw new HoneError("HONE_ERR_CONFIG", "the lexicon names a word twice");
    }
    for (const [id, spelling] of this.#spellings.entries()) {
      if (spelling.length === 1) this.#characters.set(spelling.charCodeAt(0), id);
    }
    this.#withSpecials = this.#index(0);
    this.#withoutSpecials = this.#index(SPECIAL_SPELLINGS.length);
  }

  get vocabularySize(): number {
    return this.#spellings.length;
  }

  /** Adds no special tokens: addSpecial has no effect. */
  encode(text: string, options: EncodeOptions = {}): Int32Array {
    const index = options.specials === "spell" ? this.#withoutSpecials : this.#withSpecials;
    const ids = new Int32Array(text.length);
    let count = 0;
    for (let at = 0; at < text.length; count++) {
      const long = this.#longest(index, text, at);
      const id = long?.id ?? this.#characters.get(text.charCodeAt(at));
      if (id === undefined) throw unspellable(text, at);
      ids[count] = id;
      at += long?.spelling.length ?? 1;
    }
    return ids.slice(0, count);
  }

  /** One per character if the vocabulary has every character. */
  mostTokens(text: string): number | undefined {
    return SPELLED.test(text) ? text.length : undefined;
  }

  decode(ids: ArrayLike<number>, options: DecodeOptions = {}): string {
    let text = "";
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      const spelling = this.#spellings[id];
      if (spelling === undefined) {
        throw new HoneError(
          "HONE_ERR_DATA",
          `token id ${id} at ${i} is outside 0..${this.vocabularySize - 1}`,
        );
      }
      if (!(options.skipSpecial && id < SPECIAL_SPELLINGS.length)) text += spelling;
    }
    return text;
  }

  stream(options: DecodeOptions = {}): TextStream {
    return { push: (id) => this.decode([id], options), end: () => "" };
  }

  idOf(name: string): number | undefined {
    const id = this.#spellings.indexOf(name);
    return id < 0 ? undefined : id;
  }

  nameOf(id: number): string | undefined {
    return this.#spellings[id];
  }

  tokenBytes(): Uint8Array[] {
    const encoder = new TextEncoder();
    return this.#spellings.map((spelling, id) =>
      encoder.encode(id < SPECIAL_SPELLINGS.length ? "" : spelling),
    );
  }

  #longest(index: LongSpellings, text: string, at: number) {
    const candidates = index.get(pairAt(text, at));
    if (candidates === undefined) return undefined;
    for (const candidate of candidates) if (text.startsWith(candidate.spelling, at)) return candidate;
    return undefined;
  }

  #index(firstId: number): LongSpellings {
    const index = new Map<number, { spelling: string; id: number }[]>();
    for (const [id, spelling] of this.#spellings.entries()) {
      if (id < firstId || spelling.length < 2) continue;
      const key = pairAt(spelling, 0);
      index.set(key, [...(index.get(key) ?? []), { spelling, id }]);
    }
    for (const candidates of index.values()) candidates.sort((a, b) => b.spelling.length - a.spelling.length);
    return index;
  }
}

function unspellable(text: string, at: number): HoneError {
  const code = text.codePointAt(at)!;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return new HoneError("HONE_ERR_DATA", `character ${name} at ${at} is not in the vocabulary`, {
    details: { at, code },
    hint: "This vocabulary spells printable ASCII and newlines only.",
  });
}
