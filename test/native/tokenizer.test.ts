// Tests the tokenizer through its handle. test/csrc/text/tokenizer.test.cc compares its ids with the reference's.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { HfTokenizer, openTokenizer } from "../../lib/native/index.ts";
import type { Tokenizer } from "../../lib/text/index.ts";
import { folderWith, smallTokenizer } from "./small-tokenizer.ts";

const folder = folderWith({
  "tokenizer.json": smallTokenizer(),
  "tokenizer_config.json": { bos_token: "<s>", eos_token: { content: "</s>" } },
});
const bare = folderWith({ "tokenizer.json": smallTokenizer() });
afterAll(() => {
  for (const each of [folder, bare]) rmSync(each, { recursive: true });
});
const tokenizer: Tokenizer = openTokenizer(folder);
const bytes = (text: string) => [...new TextEncoder().encode(text)];

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
  } catch (error) {
    return HoneError.is(error) ? error.code : String(error);
  }
  return undefined;
}

test("text becomes ids, with and without what belongs around it", () => {
  expect([...tokenizer.encode("he the")]).toEqual([256, 258]);
  expect([...tokenizer.encode("he the", { addSpecial: true })]).toEqual([259, 256, 258]);
  expect([...tokenizer.encode("")]).toEqual([]);
  expect([...tokenizer.encode("\0é")]).toEqual(bytes("\0é"));
});

test("special spellings are tokens, or characters where that is asked for", () => {
  expect([...tokenizer.encode("</s><think>")]).toEqual([260, 261]);
  expect([...tokenizer.encode("</s><think>", { specials: "spell" })]).toEqual([...bytes("</s>"), 261]);
  expect(tokenizer.decode([259, 256, 260])).toBe("<s>he</s>");
  expect(tokenizer.decode([259, 256, 260], { skipSpecial: true })).toBe("he");
});

test("names, ids and bytes", () => {
  expect(tokenizer.vocabularySize).toBe(262);
  expect(tokenizer.special).toEqual({ pad: undefined, bos: 259, eos: 260, think: 261, endThink: undefined });
  expect(tokenizer.idOf("<think>")).toBe(261);
  expect(tokenizer.idOf("nothing")).toBeUndefined();
  const handle = openTokenizer(join(folder, "tokenizer.json"));
  expect([handle.nameOf(256), handle.nameOf(262)]).toEqual(["he", undefined]);
  const all = tokenizer.tokenBytes();
  expect(all).toHaveLength(262);
  expect([...all[258]!]).toEqual(bytes(" the"));
  expect([[...all[200]!], [...all[259]!], [...all[261]!]]).toEqual([[200], [], bytes("<think>")]);
});

describe("a stream", () => {
  test("gives whole characters only", () => {
    const stream = tokenizer.stream();
    const steps = [...tokenizer.encode("a😀!")].map((id) => stream.push(id));
    expect([...steps, stream.end()]).toEqual(["a", "", "", "", "😀", "!", ""]);
  });

  test("says at its end what was broken, and starts anew", () => {
    const stream = tokenizer.stream({ skipSpecial: true });
    expect([stream.push(0xf0), stream.push(0x9f), stream.end()]).toEqual(["", "", "\ufffd"]);
    expect([stream.push(259), stream.push(256), stream.end()]).toEqual(["", "he", ""]);
  });

  test("joined is the whole", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(261), { maxLength: 40 }), (ids) => {
        const stream = tokenizer.stream();
        const joined = ids.map((id) => stream.push(id)).join("") + stream.end();
        expect(joined).toBe(tokenizer.decode(ids));
      }),
    );
  });

  test("keeps its tokenizer", () => {
    const stream = openTokenizer(folder).stream();
    (globalThis as { gc?: () => void }).gc?.();
    expect(stream.push(256)).toBe("he");
  });
});

describe("NFC is JavaScript's", () => {
  /** NFC through the tokenizer: special tokens are encoded as plain bytes, so decoding gives the normalized text. */
  const nfc = (text: string) => tokenizer.decode(tokenizer.encode(text, { specials: "spell" }));

  test("for every code point, alone and after a letter", () => {
    for (let first = 0; first < 0x110000; first += 0x800) {
      if (first === 0xd800) continue;
      const codes = Array.from({ length: 0x800 }, (_, i) => String.fromCodePoint(first + i));
      expect(nfc(codes.join(" e"))).toBe(codes.join(" e").normalize("NFC"));
      expect(nfc(codes.join(""))).toBe(codes.join("").normalize("NFC"));
    }
  });

  test("for any mixture of letters, marks and syllables", () => {
    const marks = fc
      .tuple(
        fc.constantFrom(0x300, 0x590, 0x900, 0xe00, 0x1100, 0x1160, 0x11a8, 0x1ab0, 0xac00, 0x1d160),
        fc.nat(111),
      )
      .map(([base, offset]) => String.fromCodePoint(base + offset));
    const character = fc.oneof(
      fc.constantFrom("a", "e", "o", "D", "Å", "가", "ই"),
      marks,
      fc.string({ unit: "binary", maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.array(character, { maxLength: 20 }), (parts) => {
        const text = parts.join("");
        expect(nfc(text)).toBe(text.normalize("NFC"));
      }),
      { numRuns: 2000 },
    );
  });
});

test("any string comes back, normalized, whatever is in it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      expect(tokenizer.decode(tokenizer.encode(text, { addSpecial: true }), { skipSpecial: true })).toBe(
        text.normalize("NFC"),
      );
    }),
  );
  expect(tokenizer.decode(tokenizer.encode("a\ud800b"))).toBe("a\ufffdb");
});

describe("errors", () => {
  test("an id outside the vocabulary", () => {
    expect(codeOf(() => tokenizer.decode([262]))).toBe("HONE_ERR_DATA");
    expect(codeOf(() => tokenizer.stream().push(-1))).toBe("HONE_ERR_DATA");
    expect(codeOf(() => tokenizer.stream().push(0.5))).toBe("HONE_ERR_DATA");
  });

  test("a vocabulary that cannot spell the text", () => {
    const model = { type: "BPE", vocab: { a: 0 }, merges: [] };
    const small = folderWith({
      "tokenizer.json": { ...smallTokenizer(), added_tokens: [], post_processor: null, model },
    });
    const only = openTokenizer(small);
    rmSync(small, { recursive: true });
    expect([...only.encode("aa")]).toEqual([0, 0]);
    expect(() => only.encode("ab")).toThrow("cannot spell byte 0x62");
  });

  test("a special token that is not there", () => {
    const none = openTokenizer(bare);
    expect(codeOf(() => none.special)).toBe("HONE_ERR_CONFIG");
    expect([...none.encode("he")]).toEqual([256]);
    const config = { tokenizerFile: join(bare, "tokenizer.json"), eosIds: [], chatTemplates: new Map() };
    const wrong = new HfTokenizer({ ...config, bosToken: "<x>", eosToken: "</s>", padToken: undefined });
    expect(() => wrong.special).toThrow('bos_token of tokenizer_config.json is "<x>"');
  });

  test("files that are missing, malformed or not understood", () => {
    const bad = folderWith({ "tokenizer.json": "{" });
    const later = folderWith({ "tokenizer.json": { ...smallTokenizer(), normalizer: { type: "NFKC" } } });
    expect(codeOf(() => openTokenizer(bad))).toBe("HONE_ERR_FORMAT");
    expect(codeOf(() => openTokenizer(later))).toBe("HONE_ERR_UNSUPPORTED");
    expect(() => openTokenizer(later)).toThrow('tokenizer.json: normalizer: type is "NFKC"');
    for (const each of [bad, later]) rmSync(each, { recursive: true });
    expect(codeOf(() => openTokenizer(bad))).toBe("HONE_ERR_IO");
  });
});

test("a pipe in place of tokenizer.json is named, and nobody waits for it", () => {
  const folder = folderWith({ "tokenizer_config.json": {} });
  const pipe = join(folder, "tokenizer.json");
  execFileSync("mkfifo", [pipe]);
  expect(() => openTokenizer(folder)).toThrow(`${pipe} is a named pipe, not a file`);
  rmSync(folder, { recursive: true });
});
