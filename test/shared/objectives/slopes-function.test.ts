import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FirstPass, SlopesFunction } from "../../../lib/custom-objective.ts";
import { askFirstPass, askSlopes, loadSlopes } from "../../../lib/shared/objectives/slopes-function.ts";
import { fileHash } from "../../../lib/trust.ts";
import { slopesRequest } from "../../fixtures/slopes-request.ts";

const SETTINGS = { clipLow: 0.1, clipHigh: 0.2, sequenceWeight: "length" } as const;

const ask = (slopes: SlopesFunction) => {
  const asked = slopesRequest();
  askSlopes(slopes, asked, SETTINGS);
  return [...asked.losses];
};

test("losses a sequence stay where they are; one number goes to the first sequence that has tokens", () => {
  expect(ask(() => Float64Array.of(0, 2, 3))).toEqual([0, 2, 3]);
  expect(ask(() => 5)).toEqual([0, 5, 0]);
});

test("it is given the clip bounds as the core reads them, and no place for losses", () => {
  let keys: readonly string[] = [];
  ask((input) => {
    keys = Object.keys(input);
    expect(input).toMatchObject({
      clipLow: Math.fround(0.1),
      clipHigh: Math.fround(0.2),
      sequenceWeight: "length",
    });
    return 0;
  });
  expect(keys).not.toContain("losses");
});

test.each<[string, unknown, RegExp]>([
  ["nothing", () => {}, /mine returned undefined; it must return the loss/],
  ["a promise", async () => Promise.reject(new Error("later")), /mine returned a promise/],
  ["an array of f32", () => Float32Array.of(1, 2, 3), /mine returned object/],
  ["too few losses", () => Float64Array.of(1, 2), /mine returned 2 losses for 3 sequences/],
  ["a loss that is not finite", () => Float64Array.of(0, 1, Number.NaN), /mine returned the loss NaN/],
  ["a number that is not finite", () => Number.POSITIVE_INFINITY, /mine returned the loss Infinity/],
])("%s is a typed error", (_, answer, message) => {
  const mine = answer as SlopesFunction;
  Object.defineProperty(mine, "name", { value: "mine" });
  expect(() => ask(mine)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_OBJECTIVE", message: expect.stringMatching(message) }),
  );
});

test("a slope that is not finite names token and sequence; what it throws is the cause", () => {
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const mine: SlopesFunction = ({ out }) => {
      out[2] = bad;
      return 0;
    };
    expect(() => ask(mine)).toThrow(
      expect.objectContaining({
        message: `mine gave token 2 the slope ${bad}`,
        details: { token: 2, sequence: 2 },
      }),
    );
  }
  const cause = new RangeError("too far");
  const thrower: SlopesFunction = () => {
    throw cause;
  };
  expect(() => ask(thrower)).toThrow(expect.objectContaining({ message: "thrower threw: too far", cause }));
  const taker: SlopesFunction = ({ out }) => {
    structuredClone(out, { transfer: [out.buffer as ArrayBuffer] });
    return 0;
  };
  expect(() => ask(taker)).toThrow(/taker transferred the memory of `out`/);
});

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-slopes-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Writes a user's file; a .ts file has types that JavaScript cannot parse. */
function moduleOf(name: string, source: string, which = "") {
  const path = join(dir, name);
  writeFileSync(path, source);
  return { module: `${pathToFileURL(path).href}${which}`, sha256: fileHash(path) };
}

test("a module gives its default export, or the one named after #, and is imported once", async () => {
  const source = `
    import type { SlopesFunction } from "hone-rl";
    let times: number = 0;
    const first: SlopesFunction = () => ++times;
    export const second: SlopesFunction = () => 100;
    export default first;`;
  const given = moduleOf("loss.ts", source);
  const slopes = await loadSlopes(given);
  expect(ask(slopes)).toEqual([0, 1, 0]);
  expect(ask(await loadSlopes({ ...given }))).toEqual([0, 2, 0]);
  const named = await loadSlopes({ ...given, module: `${given.module}#second` });
  expect(ask(named)).toEqual([0, 100, 0]);
});

test("a module that cannot be had is a typed error; one that is mended is loaded", async () => {
  const refused = (message: RegExp) =>
    expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringMatching(message) });
  const lacking = moduleOf("lacking.ts", "export const near = () => 0; export const limit = 3;", "#far");
  await expect(loadSlopes(lacking)).rejects.toThrow(refused(/no function far \(its functions: near\)/));
  await expect(loadSlopes(moduleOf("number.ts", "export default 1;"))).rejects.toThrow(
    refused(/no function default \(its functions: none\)/),
  );
  const broken = moduleOf("broken.ts", "export default (((;");
  await expect(loadSlopes(broken)).rejects.toThrow(refused(/broken\.ts cannot be imported: /));
  await expect(loadSlopes(moduleOf("loss.ts", "export default () => 0;", "#%zz"))).rejects.toThrow(
    refused(/^objective\.slopes: \/.*loss\.ts: the name #%zz has a % that is not part of a %XX escape$/),
  );
  const gone = { ...lacking, module: pathToFileURL(join(dir, "gone.ts")).href };
  await expect(loadSlopes(gone)).rejects.toThrow(refused(/gone\.ts cannot be read: .*ENOENT/));

  const before = moduleOf("changed.ts", "export default () => 1;");
  const after = moduleOf("changed.ts", "export default () => 2;");
  await expect(loadSlopes(before)).rejects.toThrow(
    refused(new RegExp(`has hash ${after.sha256}; the recipe has recorded ${before.sha256}`)),
  );
  moduleOf("changed.ts", "export default () => 1;");
  expect(ask(await loadSlopes(before))).toEqual([0, 1, 0]);
});

test.each(["again.ts", "again.mjs"])(
  "%s, changed and named anew in one process, is not the one before",
  async (name) => {
    for (const loss of [1, 2]) {
      const given = moduleOf(name, `export default () => ${loss};`);
      expect(ask(await loadSlopes(given))).toEqual([0, loss, 0]);
    }
  },
);

test.each<[string, unknown, RegExp]>([
  ["too few numbers", () => Float64Array.of(1), /mine\.firstPass must return a Float64Array of 3/],
  ["a promise", async () => Float64Array.of(1, 2, 3), /mine\.firstPass must return a Float64Array of 3/],
  ["no number", () => Float64Array.of(1, Number.NaN, 1), /mine\.firstPass returned NaN for token 1/],
  [
    "one that f32 has not",
    () => Float64Array.of(1, 1, 1e300),
    /mine\.firstPass returned 1e\+300 for token 2/,
  ],
  [
    "a promise that fails, which ends no process",
    async () => {
      throw new Error("too late");
    },
    /mine\.firstPass must return a Float64Array of 3/,
  ],
])("a first pass that returns %s is a typed error", (_, firstPass, message) => {
  const mine: SlopesFunction = Object.assign(() => 0, { firstPass: firstPass as FirstPass });
  Object.defineProperty(mine, "name", { value: "mine" });
  const { out: __, losses: ___, ...tokens } = slopesRequest();
  expect(() => askFirstPass(mine, { ...tokens, ...SETTINGS, seed: 0, step: 0 })).toThrow(
    expect.objectContaining({ code: "HONE_ERR_OBJECTIVE", message: expect.stringMatching(message) }),
  );
});
