// Deliberate faults (mutants) that these tests detect: the tag dictionary is not read; ties go to the first label;
// the last token's features; a year of three digits; suffixes of two; the folders are searched in another order.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  firstTag,
  loadVerbTagger,
  type TaggerModel,
} from "../../../../lib/domains/instruction-following/ifbench/verb-tagger.ts";
import { HoneError } from "../../../../lib/errors.ts";

const model = (weights: TaggerModel["weights"], tagdict: TaggerModel["tagdict"] = {}): TaggerModel => ({
  weights,
  tagdict,
  classes: ["NN", "VB", "JJ"],
});

describe("the first tag", () => {
  test("is the dictionary's, where it has the word as it is written", () => {
    const known = model({ bias: { NN: 1 } }, { Run: "VB" });
    expect([firstTag(known, ["Run"]), firstTag(known, ["run"]), firstTag(known, ["toString"])]).toEqual([
      "VB",
      "NN",
      "NN",
    ]);
  });

  test("is the label of most weight, of equals the last by name", () => {
    expect(firstTag(model({ bias: { NN: 1, JJ: 2 }, "i word go": { NN: 2, VB: 2.5 } }), ["Go"])).toBe("NN");
    expect(firstTag(model({}), ["Go"])).toBe("VB");
    expect(firstTag(model({ bias: { VB: -1 } }), ["Go"])).toBe("NN");
  });

  test.each([
    ["bias", ["Go"]],
    ["i suffix ing", ["Going"]],
    ["i suffix Go", ["Go"]],
    ["i suffix Go", ["Go", "there"]],
    ["i pref1 G", ["Going"]],
    ["i-1 tag -START-", ["Go"]],
    ["i-2 tag -START2-", ["Go"]],
    ["i tag+i-2 tag -START- -START2-", ["Go"]],
    ["i word going", ["Going"]],
    ["i word !YEAR", ["1999"]],
    ["i word !DIGITS", ["199"]],
    ["i word !DIGITS", ["3.5"]],
    ["i word !DIGITS", ["²x"]],
    ["i word !HYPHEN", ["well-known"]],
    ["i word -x", ["-x"]],
    ["i-1 tag+i word -START- go", ["Go"]],
    ["i-1 word -START2-", ["Go"]],
    ["i-1 suffix T2-", ["Go"]],
    ["i-2 word -START-", ["Go"]],
    ["i+1 word there", ["Go", "There", "now"]],
    ["i+1 suffix ere", ["Go", "There", "now"]],
    ["i+2 word now", ["Go", "There", "Now"]],
    ["i+1 word -END-", ["Go"]],
    ["i+2 word -END2-", ["Go"]],
    ["i+2 word -END-", ["Go", "there"]],
  ])("looks at %s of %j", (feature, tokens) => {
    expect(firstTag(model({ [feature]: { JJ: 1 } }), tokens)).toBe("JJ");
  });
});

describe("the model", () => {
  const name = "averaged_perceptron_tagger_eng";
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "hone-tagger-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(root: string, tagdict: Record<string, string>): string {
    const target = join(folder, root, "taggers", name);
    mkdirSync(target, { recursive: true });
    for (const [part, value] of Object.entries({ weights: {}, tagdict, classes: ["NN"] })) {
      writeFileSync(join(target, `${name}.${part}.json`), JSON.stringify(value));
    }
    return join(folder, root);
  }

  test("is that of the first folder that has it", () => {
    const env = {
      NLTK_DATA: [join(folder, "none"), write("a", { Go: "VBP" }), write("b", { Go: "NN" })].join(":"),
    };
    const startsWithVerb = loadVerbTagger(env);
    expect([startsWithVerb(["Go"]), startsWithVerb(["Dog"]), startsWithVerb([])]).toEqual([
      true,
      false,
      false,
    ]);
    expect(loadVerbTagger({ NLTK_DATA: join(folder, "b") })(["Go"])).toBe(false);
  });

  test("is missed with an error that says how to get it", () => {
    expect(() => loadVerbTagger({ NLTK_DATA: join(folder, "none") })).toThrow(
      expect.objectContaining({
        code: "HONE_ERR_DATA",
        message: expect.stringContaining("words:start_verb"),
        hint: expect.stringContaining("nltk.downloader"),
      }),
    );
  });

  test("is refused where a part of it is no JSON", () => {
    const root = write("a", {});
    writeFileSync(join(root, "taggers", name, `${name}.classes.json`), "[");
    expect(() => loadVerbTagger({ NLTK_DATA: root })).toThrow(HoneError);
  });
});
