/** Ids of the tokens that steer generation instead of being read. */
export interface SpecialTokens {
  readonly pad: number;
  readonly bos: number;
  readonly eos: number;
  readonly think: number;
  readonly endThink: number;
}

export interface EncodeOptions {
  /**
   * What spellings of special tokens in the text become: "parse" one token each, "spell" ordinary characters.
   * Spell text that comes from outside. Default "parse".
   */
  readonly specials?: "parse" | "spell";
}

export interface DecodeOptions {
  /** Leave special tokens out of the text. Default false. */
  readonly skipSpecial?: boolean;
}

/** Text to token ids and back. Pure; safe to share. */
export interface Tokenizer {
  readonly vocabularySize: number;
  readonly special: SpecialTokens;
  /** Throws HONE_ERR_DATA on text the vocabulary cannot spell. */
  encode(text: string, options?: EncodeOptions): Int32Array;
  /** Throws HONE_ERR_DATA on an id outside the vocabulary. */
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string;
  /** UTF-8 bytes of every token, indexed by id; empty for special tokens, which no stop string can match. */
  tokenBytes(): Uint8Array[];
}
