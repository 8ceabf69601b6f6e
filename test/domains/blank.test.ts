import { describe, expect, test } from "vitest";
import { isBlank, isWordless } from "../../lib/domains/blank.ts";

/** Each character by name, so that a reader sees which one it is. */
const NOTHING: Readonly<Record<string, string>> = {
  "no character": "",
  space: " ",
  "line ends and tabs": "\r\n\t\v\f",
  "no-break space": "\u00a0",
  "next line": "\u0085",
  "information separators": "\u001c\u001d\u001e\u001f",
  "null character": "\u0000",
  "escape and delete": "\u001b\u007f",
  "soft hyphen": "\u00ad",
  "combining grapheme joiner": "\u034f",
  "Arabic letter mark": "\u061c",
  "Hangul fillers": "\u115f\u1160\u3164\uffa0",
  "Khmer inherent vowels": "\u17b4\u17b5",
  "Mongolian separators": "\u180b\u180e",
  "Ogham space": "\u1680",
  "spaces of every width":
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
  "zero-width space": "\u200b",
  "joiners and directions": "\u200c\u200d\u200e\u200f\u202a\u202e\u2066\u2069",
  "line and paragraph separators": "\u2028\u2029",
  "word joiner and invisible operators": "\u2060\u2061\u2062\u2063\u2064",
  "Braille blank": "\u2800",
  "variation selectors": "\ufe00\ufe0f\u{e0100}",
  "byte order mark": "\ufeff",
  "object replacement and replacement": "\ufffc\ufffd",
  "interlinear annotation": "\ufff9\ufffb",
  "null note head": "\u{1d159}",
  "blank hieroglyphs": "\u{13441}\u{13442}",
  tags: "\u{e0020}\u{e0041}\u{e007f}",
  "lone surrogates": "\ud800 \udc00",
  "private use": "\ue000\u{f0000}",
  noncharacters: "\ufdd0\uffff",
  "marks without a letter": "\u0301\u20dd",
  "special tokens": "<|im_end|></s><｜end▁of▁sentence｜><eos><end_of_turn>",
};

describe.each(Object.entries(NOTHING))("%s", (_, text) => {
  test("is blank, alone and repeated, and has no word", () => {
    for (const tried of [text, text.repeat(1000), ` ${text}\n`]) {
      expect(isBlank(tried)).toBe(true);
      expect(isWordless(tried)).toBe(true);
    }
  });

  test("does not hide what stands in it", () => {
    for (const shown of ["a", "7", "答", "é", "e\u0301", "क", "ب", "𝐀"]) {
      expect(isBlank(text + shown + text)).toBe(false);
      expect(isWordless(text + shown + text)).toBe(false);
    }
    for (const mark of [".", "*", "👍", "∅", "␣", "—"]) {
      expect(isBlank(text + mark + text)).toBe(false);
      expect(isWordless(text + mark + text)).toBe(true);
    }
  });
});

test("only special tokens are tokens", () => {
  for (const text of ["<b>", "<|>", "</|", "<a|b>", "<sos>", "im_end"]) expect(isBlank(text)).toBe(false);
});

test("a megabyte takes no longer than its length", () => {
  const begun = process.cpuUsage();
  for (const unit of ["\u200b", "\u2800", ".", "\u0301"]) isWordless(unit.repeat(1_000_000));
  for (const unit of ["\u200b", "\u2800", "\u0301"]) isBlank(unit.repeat(1_000_000));
  expect(process.cpuUsage(begun).user).toBeLessThan(10e6); // takes microseconds; quadratic time would be minutes
});
