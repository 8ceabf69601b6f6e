// Writes csrc/text/unicode_tables.inc: character classes and canonical (de)compositions, from the ICU of this Node by
// \p{...} and String.prototype.normalize. Run it with a newer Node for a newer Unicode version:
//   node scripts/unicode-tables.mjs
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const LAST = 0x10ffff;
const HANGUL = { first: 0xac00, last: 0xd7a3 };
const codes = Array.from({ length: LAST + 1 }, (_, c) => c).filter((c) => c < 0xd800 || c > 0xdfff);
const char = String.fromCodePoint;
const only = (text) => (text.length > 0 && [...text].length === 1 ? text.codePointAt(0) : undefined);

/** Bits of the class byte, in the order of `enum CharClass` (csrc/text/unicode.h). */
const CLASSES = [
  /^\p{L}$/u,
  /^\p{N}$/u,
  /^\p{White_Space}$/u,
  /^[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]$/u,
  /^[\p{Ll}\p{Lm}\p{Lo}\p{M}]$/u,
  /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u,
  /^[\p{P}\p{S}]$/u,
];
const ACTIVE = 1 << CLASSES.length;

const inHangul = (c) => c >= HANGUL.first && c <= HANGUL.last;
const decompositions = codes
  .filter((c) => !inHangul(c) && char(c).normalize("NFD") !== char(c))
  .map((c) => [c, [...char(c).normalize("NFD")].map((each) => each.codePointAt(0))]);

/** Pairs first + second -> composed. As in the published mappings, `first` may itself be composed. */
const compositions = decompositions.flatMap(([composed, parts]) => {
  if (parts.length < 2 || char(composed).normalize("NFC") !== char(composed)) return [];
  const first = only(char(...parts.slice(0, -1)).normalize("NFC"));
  return first === undefined ? [] : [[first, parts.at(-1), composed]];
});

/** JavaScript does not expose combining classes, but it shows their order, since normalization sorts marks by it. */
function markRanks() {
  const swaps = (a, b) => char(a, b).normalize("NFD") === char(b, a) && a !== b;
  const lowest = 0x0334; // combining class 1
  const highest = 0x0345; // combining class 240
  const marks = codes.filter(
    (c) => char(c).normalize("NFD") === char(c) && (swaps(c, lowest) || swaps(highest, c)),
  );
  marks.push(...[lowest, highest].filter((c) => !marks.includes(c)));
  marks.sort((a, b) => (swaps(a, b) ? 1 : swaps(b, a) ? -1 : 0));
  let rank = 0;
  return marks
    .map((mark, i) => {
      if (i === 0 || swaps(mark, marks[i - 1])) rank += 1;
      return [mark, rank];
    })
    .sort(([a], [b]) => a - b);
}

/** Joins neighbours with one value into runs [first, last, value]. */
function runs(pairs) {
  const out = [];
  for (const [c, value] of pairs) {
    const run = out.at(-1);
    if (run !== undefined && run[1] === c - 1 && run[2] === value) run[1] = c;
    else out.push([c, c, value]);
  }
  return out;
}

const ranks = markRanks();
const active = new Set([
  ...ranks.map(([mark]) => mark),
  ...compositions.map(([, second]) => second),
  ...codes.filter((c) => char(c).normalize("NFC") !== char(c)),
  ...Array.from({ length: 21 }, (_, i) => 0x1161 + i), // Hangul vowels and finals join the syllable before them
  ...Array.from({ length: 27 }, (_, i) => 0x11a8 + i),
]);
// A preceding character may change a composed character that begins with one of these.
for (const [c, [first]] of decompositions) if (active.has(first)) active.add(c);
const classes = runs(
  codes
    .map((c) => {
      const text = char(c);
      const bits = CLASSES.reduce((sum, pattern, bit) => sum | (pattern.test(text) ? 1 << bit : 0), 0);
      return [c, bits | (active.has(c) ? ACTIVE : 0)];
    })
    .filter(([, bits]) => bits !== 0),
);

function table(type, name, rows) {
  const lines = [""];
  for (const row of rows) {
    const cell = `{${row.map((n) => (n > 9 ? `0x${n.toString(16)}` : n)).join(",")}},`;
    if (lines.at(-1).length + cell.length > 118) lines.push("");
    lines[lines.length - 1] += cell;
  }
  return `constexpr ${type} ${name}[] = {\n${lines.map((line) => `  ${line}`).join("\n")}\n};\n`;
}

const flat = decompositions.flatMap(([c, parts]) => parts.map((part) => [c, part]));
const text = `// Made by scripts/unicode-tables.mjs from Unicode ${process.versions.unicode}; do not edit.
${table("ClassRun", "kClassRuns", classes)}${table("ClassRun", "kMarkRanks", runs(ranks))}
// Full canonical decompositions, one row per part, without Hangul syllables.
${table("Part", "kDecompositions", flat)}${table("Pair", "kCompositions", compositions)}`;
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
writeFileSync(path.join(root, "csrc/text/unicode_tables.inc"), text);
