import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Demand,
  expectTrusted,
  fileHash,
  keepOrigin,
  moduleHashes,
  readFrom,
  Trust,
} from "../lib/trust.ts";

let dir: string;
let module: Demand & { readonly kind: "module" };
let sha256: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-trust-"));
  writeFileSync(join(dir, "a.mjs"), "export default 1;");
  sha256 = createHash("sha256").update("export default 1;").digest("hex");
  module = { field: "objective.slopes", kind: "module", url: pathToFileURL(join(dir, "a.mjs")).href };
});
afterAll(() => rmSync(dir, { recursive: true }));

const server: Demand = { field: "judge", kind: "server", url: "http://there/v1", keyEnv: "KEY" };
const asked = (record: object, demands: readonly Demand[]) => () =>
  expectTrusted([{ record, demands: () => demands }]);

test("a record without a mark may ask for anything, and is not even asked what", () => {
  expect(asked({}, [module, server])).not.toThrow();
  const never = () => {
    throw new Error("asked");
  };
  expect(() => expectTrusted([{ record: {}, demands: never }])).not.toThrow();
});

test("a folder's record is refused all that it asks for, in one error with paths and hashes", () => {
  const file: Demand = { field: "trackers.0", kind: "file", path: "/srv/other" };
  const variables: Demand = { field: "verification.env", kind: "variables", names: ["HF_TOKEN"] };
  const program: Demand = { field: "python.bin", kind: "program", command: ["sh", "-c", "evil"] };
  const gone: Demand = { ...module, field: "gone", url: pathToFileURL(join(dir, "gone.mjs")).href };
  const hashes = { [join(dir, "a.mjs")]: "0".repeat(64) };
  const record = readFrom({}, "runs/theirs", { modules: hashes });
  expect(
    asked(record, [module, { ...module, sha256 }, gone, server, file, variables, program, server]),
  ).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_TRUST",
      message: [
        "runs/theirs: this command would do what the folder's record names, and you have not allowed it:",
        `  objective.slopes: runs ${dir}/a.mjs (sha256 ${sha256}; the record has sha256 ${"0".repeat(64)})`,
        `  objective.slopes: runs ${dir}/a.mjs (sha256 ${sha256}, as recorded)`,
        `  gone: runs ${dir}/gone.mjs (no such file; the record has no hash)`,
        "  judge: sends to http://there/v1, with the key in KEY",
        "  trackers.0: writes /srv/other",
        "  verification.env: gives modules HF_TOKEN of the environment",
        "  python.bin: starts sh -c evil",
      ].join("\n"),
    }),
  );
});

test("a record of a million fields is refused by a short message", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => ({ ...module, field: `${i}${"x".repeat(1000)}` }));
  expect(asked(readFrom({}, "d"), many)).toThrow(/and 9980 more$/);
  try {
    asked(readFrom({}, "d"), many)();
  } catch (error) {
    expect((error as Error).message.length).toBeLessThan(20_000);
  }
});

test("a copy of a record by spreading, and what is made of it, stay the folder's", () => {
  const record = readFrom({ a: 1 }, "d");
  expect(asked({ ...record, b: 2 }, [module])).toThrow("objective.slopes");
  expect(asked(keepOrigin({}, record), [module])).toThrow("objective.slopes");
  expect(asked(keepOrigin({}, { a: 1 }), [module])).not.toThrow();
  expect(JSON.stringify(record)).toBe('{"a":1}');
});

test("a recipe of the user's allows the same file, by whatever path, and only with the recorded hash", () => {
  symlinkSync(join(dir, "a.mjs"), join(dir, "link.mjs"));
  const link: Demand = { ...module, url: pathToFileURL(join(dir, "link.mjs")).href };
  const alike = (own: readonly Demand[], demand: Demand) =>
    asked(readFrom({}, "d", { trust: Trust.alike(own) }), [demand]);
  expect(alike([module], link)).not.toThrow();
  expect(alike([module], { ...module, sha256 })).not.toThrow();
  expect(alike([module], { ...module, sha256: "1".repeat(64) })).toThrow("the record has sha256 1111");
  writeFileSync(join(dir, "b.mjs"), "export default 1;"); // the same text, but its relative imports may differ
  expect(alike([module], { ...module, url: pathToFileURL(join(dir, "b.mjs")).href })).toThrow("b.mjs");
  expect(alike([server], server)).not.toThrow();
  expect(alike([{ ...server, keyEnv: "MINE" } as Demand], server)).toThrow("KEY");
  expect(alike([{ ...server, url: "http://here/v1" } as Demand], server)).toThrow("there");
  const program: Demand = { field: "python.bin", kind: "program", command: ["uv", "run", "python"] };
  expect(alike([program], program)).not.toThrow();
  expect(alike([program], { ...program, command: ["uv", "run python"] })).toThrow("starts uv run python");
});

test("hashes of modules are kept by path, of files that are there", () => {
  const gone: Demand = { ...module, url: "file:///gone.mjs" };
  expect(moduleHashes([module, gone, server])).toEqual({ [join(dir, "a.mjs")]: sha256 });
  expect(fileHash(join(dir, "a.mjs"))).toBe(sha256);
});
