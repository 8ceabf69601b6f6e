import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** True for the bytes that byte-level vocabularies write unchanged. */
const printable = (b: number) => (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xff && b !== 0xad);
let next = 0x100;
export const BYTES = Array.from({ length: 256 }, (_, b) => String.fromCharCode(printable(b) ? b : next++));

const LLAMA3 =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const special = (id: number, content: string) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});
const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };

/** A byte-level tokenizer.json: the bytes are ids 0..255, then "he", " t", " the", then <s>, </s> and <think>. */
export function smallTokenizer(): Record<string, unknown> {
  const space = BYTES[32]!;
  const more = ["he", `${space}t`, `${space}the`];
  return {
    version: "1.0",
    added_tokens: [special(259, "<s>"), special(260, "</s>"), { ...special(261, "<think>"), special: false }],
    normalizer: { type: "NFC" },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: LLAMA3 }, behavior: "Isolated", invert: false },
        byteLevel,
      ],
    },
    post_processor: {
      type: "TemplateProcessing",
      single: [{ SpecialToken: { id: "<s>", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
      pair: [],
      special_tokens: { "<s>": { id: "<s>", ids: [259], tokens: ["<s>"] } },
    },
    decoder: byteLevel,
    model: {
      type: "BPE",
      vocab: Object.fromEntries([...BYTES, ...more].map((name, id) => [name, id])),
      merges: ["h e", `${space} t`, `${space}t he`],
    },
  };
}

/** Makes a folder with these files; writes objects as JSON. */
export function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), "hone-tokenizer-"));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}
