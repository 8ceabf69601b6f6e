/** Chosen so that every family holds out 8 to 12 % at every level, also where there are only ten questions. */
const SALT = 10605;
const HELD_OUT_SHARE = 0.1;

/** 32-bit FNV-1a over UTF-16 code units, finished with murmur3's mixer so that short texts spread. */
function hash(text: string): number {
  let h = (0x811c9dc5 ^ SALT) >>> 0;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * Whether a question belongs to evaluation: one in ten, by its text alone, whatever the seed. No training
 * problem and no demonstration ever asks such a question.
 */
export function isHeldOut(question: string): boolean {
  return hash(question) < HELD_OUT_SHARE * 0x100000000;
}
