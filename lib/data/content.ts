import { hash } from "node:crypto";

/** Chosen so that every family holds out 8 to 12 % at every level, also where there are only ten questions. */
const SALT = 10605;
const OTHER_SPACE = /[^\S ]/;

/** A text with every run of space as one, and none at its ends. */
export const normalized = (content: string): string =>
  isUnusual(content) ? content.replace(/\s+/g, " ").trim() : content;

const isUnusual = (content: string): boolean =>
  content.includes("  ") || content.startsWith(" ") || content.endsWith(" ") || OTHER_SPACE.test(content);

/** Name of a row's content: the same for the same words, whatever the space between them. */
export const contentKey = (content: string): string => keyOf(normalized(content));

/** The same for content that is normalized. */
export const keyOf = (content: string): string => hash("sha256", content, "base64url").slice(0, 22);

/** murmur3's finalizer, so that short texts spread. */
function mixed(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * Two 32-bit hashes of a text: FNV-1a over UTF-16 code units, which decides the split and so may never change; and one
 * with another multiplier and offset, which with the first tells duplicates among millions of rows.
 */
export function hashes(text: string, out: Uint32Array): void {
  let first = (0x811c9dc5 ^ SALT) >>> 0;
  let second = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x9e3779b1);
    second ^= second >>> 15;
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
