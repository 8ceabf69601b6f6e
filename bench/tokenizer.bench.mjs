// Compares Hone's tokenizer with @huggingface/tokenizers, one thread each, on the repository's own text: a byte-level
// BPE with Qwen 2's pre-tokenizer, trained here. Every figure is a ratio of two times of this run; ids are compared
// first.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Tokenizer } from "@huggingface/tokenizers";
import { openTokenizer } from "../dist/lib/native/index.js";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const PATTERN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

const files = ["docs/reference", "lib/orchestration", "lib/domains/math", "lib/config"].flatMap((folder) =>
  readdirSync(path.join(root, folder))
    .filter((file) => /\.(?:md|ts)$/.test(file))
    .map((file) => readFileSync(path.join(root, folder, file), "utf8")),
);
const corpus = files.join("\n");
const documents = corpus.match(/[\s\S]{1,4000}/g);

/** The printable characters that stand for the 256 bytes in byte-level vocabularies. */
function byteAlphabet() {
  const printable = (b) => (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xff && b !== 0xad);
  let next = 0x100;
  return Array.from({ length: 256 }, (_, b) => String.fromCharCode(printable(b) ? b : next++));
}

/** Trains a BPE: repeatedly merges the most frequent pair over the distinct words. */
function train(text, count) {
  const alphabet = byteAlphabet();
  const words = new Map();
  for (const [word] of text.matchAll(/ ?\p{L}+| ?[^\s\p{L}]+|\s+/gu))
    words.set(word, (words.get(word) ?? 0) + 1);
  const spelled = [...words].map(([word, n]) => ({
    parts: [...Buffer.from(word)].map((b) => alphabet[b]),
    n,
  }));
  const vocabulary = new Map(alphabet.map((char, id) => [char, id]));
  const merges = [];
  while (merges.length < count) {
    const pairs = new Map();
    for (const { parts, n } of spelled)
      for (let i = 1; i < parts.length; i++) {
        const pair = `${parts[i - 1]} ${parts[i]}`;
        pairs.set(pair, (pairs.get(pair) ?? 0) + n);
      }
    const [best] = [...pairs].reduce((a, b) => (b[1] > a[1] ? b : a));
    const [left, right] = best.split(" ");
    merges.push([left, right]);
    vocabulary.set(left + right, vocabulary.size);
    for (const word of spelled) word.parts = joined(word.parts, left, right);
  }
  return { vocab: Object.fromEntries(vocabulary), merges };
}

function joined(parts, left, right) {
  const out = [];
  for (const part of parts) {
    if (part === right && out.at(-1) === left) out[out.length - 1] = left + right;
    else out.push(part);
  }
  return out;
}

const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
const split = { type: "Split", pattern: { Regex: PATTERN }, behavior: "Isolated", invert: false };
const file = {
  version: "1.0",
  added_tokens: [],
  normalizer: { type: "NFC" },
  pre_tokenizer: { type: "Sequence", pretokenizers: [split, byteLevel] },
  post_processor: byteLevel,
  decoder: byteLevel,
  model: { type: "BPE", ...train(corpus, smoke ? 100 : 1000) },
};
const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-"));
writeFileSync(path.join(folder, "tokenizer.json"), JSON.stringify(file));
const ours = openTokenizer(folder);
rmSync(folder, { recursive: true });
const theirs = new Tokenizer(file, {});

const ids = documents.map((text) => ours.encode(text));
for (const [i, text] of documents.entries()) {
  const other = theirs.encode(text, { add_special_tokens: false }).ids;
  if (other.length !== ids[i].length || other.some((id, k) => id !== ids[i][k]))
    throw new Error(`document ${i} has other ids`);
}

/** The shortest time of a few repeats, in seconds. */
function seconds(work) {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < (smoke ? 1 : 5); i++) {
    const start = performance.now();
    work();
    best = Math.min(best, (performance.now() - start) / 1000);
  }
  return best;
}

function each(list, work) {
  for (const item of list) work(item);
}

const lists = ids.map((list) => [...list]);
const encode = {
  ours: seconds(() => each(documents, (text) => ours.encode(text))),
  theirs: seconds(() => each(documents, (text) => theirs.encode(text, { add_special_tokens: false }))),
};
const decode = {
  ours: seconds(() => each(ids, (list) => ours.decode(list))),
  theirs: seconds(() => each(lists, (list) => theirs.decode(list, { skip_special_tokens: false }))),
};
/** Compares a megabyte without a split with a megabyte of ordinary text: a ratio of 1 means no difference. */
const ordinary = corpus.repeat(Math.ceil(1e6 / corpus.length)).slice(0, 1e6);
const usual = seconds(() => ours.encode(ordinary));
const adversarial = ["a", " ", "\u0301", "Aa", "0"].map((unit) => ({
  name: `a megabyte of ${JSON.stringify(unit)}, times a megabyte of text`,
  value: seconds(() => ours.encode(unit.repeat(1e6 / Buffer.byteLength(unit)))) / usual,
}));

const megabytes = Buffer.byteLength(corpus) / 1e6;
const rows = [
  {
    name: "encode, times @huggingface/tokenizers",
    value: encode.theirs / encode.ours,
    floor: 4,
    "MB/s": megabytes / encode.ours,
  },
  {
    name: "decode, times @huggingface/tokenizers",
    value: decode.theirs / decode.ours,
    floor: 4,
    "MB/s": megabytes / decode.ours,
  },
  ...adversarial,
];
process.stdout.write(`${JSON.stringify({ rows })}\n`);
