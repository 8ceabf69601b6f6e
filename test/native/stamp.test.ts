import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import ts from "typescript-6";
import { expect, test, vi } from "vitest";
import { binding } from "../../lib/native/load.ts";
import { INTERFACE_STAMP } from "../../lib/native/stamp.ts";

/** The tokens of a source without comments and white space, which do not change the interface. */
function tokensOf(source: string): string {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, source);
  const tokens: string[] = [];
  while (scanner.scan() !== ts.SyntaxKind.EndOfFileToken) tokens.push(scanner.getTokenText());
  return tokens.join(" ");
}

function fingerprint(...sources: string[]): string {
  const hash = createHash("sha256");
  for (const source of sources) hash.update(tokensOf(source)).update("\0");
  return hash.digest("hex").slice(0, 12);
}

const face = [
  "face.ts",
  "binding.ts",
  "../custom-objective.ts",
  "group-face.ts",
  "model-face.ts",
  "receiver-face.ts",
  "route-face.ts",
  "teacher-face.ts",
].map((file) => readFileSync(`lib/native/${file}`, "utf8"));

test("the stamp is the fingerprint of the face: whoever changes the face writes the new one into stamp.ts", () => {
  expect(INTERFACE_STAMP).toBe(fingerprint(...face));
});

test("a field more, or one of another name, is another fingerprint; a comment more is not", () => {
  const [first, second, ...others] = face as [string, string, ...string[]];
  const renamed = first.replace("readonly pageTokens:", "readonly pageSize:");
  expect(renamed).not.toBe(first);
  expect(fingerprint(renamed, second, ...others)).not.toBe(INTERFACE_STAMP);
  expect(fingerprint(first, second.replace("idOf(", "idOfName("), ...others)).not.toBe(INTERFACE_STAMP);
  expect(fingerprint(`// why\n${first}`, `${second}/** what */\n\n`, ...others)).toBe(INTERFACE_STAMP);
});

test("the addon carries the stamp it was built with", () => {
  expect(binding().interfaceStamp).toBe(INTERFACE_STAMP);
});

test.each(["ffffffffffff", undefined])(
  "beside another build (%s) loading fails, before any call",
  async (other) => {
    vi.resetModules();
    vi.doMock("../../lib/native/stamp.ts", () => ({ INTERFACE_STAMP: other }));
    const { binding: load } = await import("../../lib/native/load.ts");
    const refused = expect.objectContaining({
      code: "HONE_ERR_NATIVE_LOAD",
      message: "the native core and the TypeScript beside it are of different builds",
      hint: "Run `npx hone build`; in a checkout `npm run build:ts` too.",
      details: { core: INTERFACE_STAMP, typescript: other },
    });
    expect(load).toThrow(refused);
    expect(load).toThrow(refused); // also the second time: a refused addon is not cached
  },
);
