import { foldCase } from "../../../python/pattern-characters.ts";
import { fields, words } from "../../../python/text.ts";
import { detectLanguage } from "./language.ts";
import { punktSentences } from "./punkt.ts";
import { splitSentences } from "./sentences.ts";
import { shownText } from "./shown-text.ts";
import { wordTokens } from "./treebank.ts";

/** A response and the properties that constraints read, each computed once, on first use. */
export class ResponseText {
  readonly raw: string;
  #shown: ResponseText | undefined;
  #inLowerCase: ResponseText | undefined;
  #lower: string | undefined;
  #folded: string | undefined;
  #fields: readonly string[] | undefined;
  #words: readonly string[] | undefined;
  #sentences: readonly string[] | undefined;
  #splitSentences: readonly string[] | undefined;
  #tokens: readonly string[] | undefined;
  #language: { readonly code: string | undefined } | undefined;

  constructor(raw: string) {
    this.raw = raw;
  }

  /** The response as a reader sees it: shownText of it. */
  get shown(): ResponseText {
    if (this.#shown === undefined) {
      const text = shownText(this.raw);
      this.#shown = text === this.raw ? this : new ResponseText(text);
    }
    return this.#shown;
  }

  /** The response in lower case, with properties of its own. */
  get inLowerCase(): ResponseText {
    this.#inLowerCase ??= new ResponseText(this.lower);
    return this.#inLowerCase;
  }

  get lower(): string {
    this.#lower ??= this.raw.toLowerCase();
    return this.#lower;
  }

  /** The text for keyword comparison, case-folded. */
  get folded(): string {
    this.#folded ??= foldCase(this.raw);
    return this.#folded;
  }

  /** Runs between white space: Python's str.split(). */
  get fields(): readonly string[] {
    this.#fields ??= fields(this.raw);
    return this.#fields;
  }

  /** Runs of `\w`, as the word counts of IFEval see them. */
  get words(): readonly string[] {
    this.#words ??= words(this.raw);
    return this.#words;
  }

  /** Sentences by the Punkt algorithm. */
  get sentences(): readonly string[] {
    this.#sentences ??= punktSentences(this.raw);
    return this.#sentences;
  }

  /** Sentences by IFEval's own rule-based splitter, which differs. */
  get splitSentences(): readonly string[] {
    this.#splitSentences ??= splitSentences(this.raw);
    return this.#splitSentences;
  }

  /** Treebank-style tokens, punctuation included. */
  get tokens(): readonly string[] {
    this.#tokens ??= wordTokens(this.sentences);
    return this.#tokens;
  }

  /** Language code of the text ("en", "zh-cn"), or undefined if it has no letters. */
  get language(): string | undefined {
    this.#language ??= { code: detectLanguage(this.raw) };
    return this.#language.code;
  }
}
