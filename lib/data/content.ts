import { hash } from "node:crypto";

/**
 * Salt of the hash that decides which questions are held out; chosen so that every family holds out 8 to 12 % at
 * every level, even a family with ten questions.
 */
const SALT = 10605;
const OTHER_SPACE = /[^\S ]/;

/** The text with every run of white space replaced by one space, and trimmed. */
export const normalized = (content: string): string =>
  isUnusual(content) ? content.replace(/\s+/g, " ").trim() : content;

const isUnusual = (content: string): boolean =>
  content.includes("  ") || content.startsWith(" ") || content.endsWith(" ") || OTHER_SPACE.test(content);

/** Key of a row's content: equal for texts that differ only in white space. */
export const contentKey = (content: string): string => keyOf(normalized(content));

/** Like contentKey, for content that is already normalized. */
export const keyOf = (content: string): string => hash("sha256", content, "base64url").slice(0, 22);

/** murmur3's finalizer, which spreads the hashes of short texts over all 32 bits. */
function mixed(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Seeds of the two hashes, and how a UTF-16 code unit enters each. */
const FIRST_SEED = (0x811c9dc5 ^ SALT) >>> 0;
const SECOND_SEED = 0x9e3779b9;
const inFirst = (hash: number, unit: number) => Math.imul(hash ^ unit, 0x01000193);
function inSecond(hash: number, unit: number): number {
  const mixedIn = Math.imul(hash ^ unit, 0x9e3779b1);
  return mixedIn ^ (mixedIn >>> 15);
}

/**
 * Two 32-bit hashes of a text: FNV-1a over UTF-16 code units, which decides the split and so may never change; and
 * one with another multiplier and seed. Together they identify duplicates among millions of rows.
 */
export function hashes(text: string, out: Uint32Array): void {
  let first = FIRST_SEED;
  let second = SECOND_SEED;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    first = inFirst(first, unit);
    second = inSecond(second, unit);
  }
  out[0] = mixed(first);
  out[1] = mixed(second);
}

const pair = new Uint32Array(2);

/** The hash that decides the split, 0 to 2^32 - 1. */
export function splitHash(text: string): number {
  hashes(text, pair);
  return pair[0]!;
}

const BEFORE = '[[{"role":"user","content":"';
const BEHIND = '"}],null]';

/** Content of a row that asks with one user turn: JSON of [[turn], null], built on demand. */
export class UserTurn {
  readonly #words: string;

  constructor(words: string) {
    this.#words = words;
  }

  toString(): string {
    return `${BEFORE}${JSON.stringify(this.#words).slice(1, -1)}${BEHIND}`;
  }

  /** Equals `hashes` of the text, in a third of the time if the text has no rare character. */
  hashes(out: Uint32Array): void {
    if (!hashesOfTurn(this.#words, out)) hashes(normalized(this.toString()), out);
  }
}

/** Content of a row, without any template. */
export type Content = string | UserTurn;

/** The text of a content, which a key is made of. */
export const textOf = (content: Content): string => normalized(content.toString());

/** Computes the two hashes of a content's text. */
export function hashesOf(content: Content, out: Uint32Array): void {
  if (typeof content === "string") hashes(normalized(content), out);
  else content.hashes(out);
}

/** Classes of a UTF-16 code unit: written unchanged by JSON, white space, or escaped by JSON. */
const AS_IT_IS = 0;
const ONE_SPACE = 1;
const ESCAPED = 2;
/** A control character, a surrogate, or Unicode white space: needs the slow path over the text. */
const RARE = 4;
const KINDS = new Uint8Array(0x10000).fill(RARE);
for (const [from, to] of [
  [0x21, 0x7f],
  [0xa1, 0x1680],
  [0x2070, 0x3000],
  [0x3001, 0xd800],
] as const)
  KINDS.fill(AS_IT_IS, from, to);
KINDS[0x20] = ONE_SPACE;
const BACKSLASH = 0x5c;
/** Characters that JSON writes after a backslash. */
const LETTERS = new Uint8Array(128);
for (const [character, letter] of Object.entries({ '"': '"', "\\": "\\", "\t": "t", "\n": "n", "\r": "r" })) {
  KINDS[character.charCodeAt(0)] = ESCAPED;
  LETTERS[character.charCodeAt(0)] = letter.charCodeAt(0);
}

const afterBefore = [...BEFORE].reduce(
  ([first, second], character) => {
    const unit = character.charCodeAt(0);
    return [inFirst(first!, unit), inSecond(second!, unit)];
  },
  [FIRST_SEED, SECOND_SEED],
) as [number, number];

/** Hashes of a turn without building its JSON text; false if the slow path is needed. Has no branch on where spaces are. */
function hashesOfTurn(words: string, out: Uint32Array): boolean {
  let [first, second] = afterBefore;
  let last = AS_IT_IS;
  let doubled = 0;
  for (let i = 0; i < words.length; i++) {
    let unit = words.charCodeAt(i);
    const kind = KINDS[unit]!;
    if (kind >= ESCAPED) {
      if (kind === RARE) return false;
      first = inFirst(first, BACKSLASH);
      second = inSecond(second, BACKSLASH);
      unit = LETTERS[unit]!;
    }
    doubled |= kind & last & ONE_SPACE;
    last = kind;
    first = inFirst(first, unit);
    second = inSecond(second, unit);
  }
  if (doubled !== 0) return false;
  for (let i = 0; i < BEHIND.length; i++) {
    first = inFirst(first, BEHIND.charCodeAt(i));
    second = inSecond(second, BEHIND.charCodeAt(i));
  }
  out[0] = mixed(first);
  out[1] = mixed(second);
  return true;
}
