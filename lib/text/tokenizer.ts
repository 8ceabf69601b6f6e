/** Ids of the tokens that steer generation and are not text. A vocabulary need not have all of them. */
export interface SpecialTokens {
  readonly pad: number | undefined;
  readonly bos: number | undefined;
  readonly eos: number;
  readonly think: number | undefined;
  readonly endThink: number | undefined;
}

export interface EncodeOptions {
  /**
   * Treatment of special tokens' spellings in the text: "parse" makes each one token, "spell" ordinary characters.
   * Use "spell" for untrusted text. Default "parse".
   */
  readonly specials?: "parse" | "spell";
  /** Add the special tokens that the tokenizer adds around a text by default (often bos). Default false. */
  readonly addSpecial?: boolean;
}

export interface DecodeOptions {
  /** Leave special tokens out of the text. Default false. */
  readonly skipSpecial?: boolean;
}

/** Decodes tokens incrementally; the joined pieces equal the `decode` of all tokens. */
export interface TextStream {
  /** Text that is certain after one more token, often empty: never half a character. */
  push(id: number): string;
  /** The remaining text, with incomplete characters as U+FFFD. */
  end(): string;
}

/** Text to token ids and back. The same input always gives the same output. */
export interface Tokenizer {
  /** One more than the greatest id. */
  readonly vocabularySize: number;
  /** Throws HONE_ERR_CONFIG if the tokenizer has no end-of-text token. */
  readonly special: SpecialTokens;
  /** Throws HONE_ERR_DATA on text the vocabulary cannot spell. */
  encode(text: string, options?: EncodeOptions): Int32Array;
  /** Upper bound of a text's tokens, with specials spelled out; undefined if only encoding determines it. */
  mostTokens?(text: string): number | undefined;
  /** Throws HONE_ERR_DATA on an id outside the vocabulary. */
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string;
  stream(options?: DecodeOptions): TextStream;
  /** Id of the token with exactly this name; undefined if there is none. */
  idOf(name: string): number | undefined;
  /** A token's name, as idOf takes it; undefined for an id without token. */
  nameOf(id: number): string | undefined;
  /** UTF-8 bytes of every token, indexed by id; empty for special tokens, which no stop string can match. */
  tokenBytes(): Uint8Array[];
}
