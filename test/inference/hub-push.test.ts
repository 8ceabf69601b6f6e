// Pushes to a Hub that stores files by hash. Deliberate faults (mutants) that these tests detect: every file is sent
// again, files of equal size count as equal, the token is sent to the storage, a link is followed, --private is
// ignored for a public repository.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PushOptions, pushFolder } from "../../lib/inference/index.ts";
import { WritableHub } from "../fixtures/writable-hub.ts";

let hub: WritableHub;
let folder: string;
let env: Record<string, string>;
beforeEach(async () => {
  hub = new WritableHub();
  env = { HF_ENDPOINT: await hub.listen(), HF_TOKEN: "hf_right" };
  folder = mkdtempSync(join(tmpdir(), "hone-push-"));
  write("config.json", '{"model_type": "llama"}');
  write("model.safetensors", Buffer.alloc(5000, 1));
  write("README.md", "# a model");
  write(".cache", "not this");
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
const write = (name: string, contents: string | Buffer) => writeFileSync(join(folder, name), contents);
const push = (more: PushOptions = {}) =>
  pushFolder(folder, "org/mine", { env, retryDelaysMs: [1, 1], ...more });
const uploads = () => hub.seen.filter((one) => one.startsWith("PUT"));

test("a new repository is made, and gets all files but hidden ones in one commit", async () => {
  const progress: [number, number][] = [];
  const report = await push({ onProgress: (...told) => progress.push(told), title: "step 40" });
  expect(report).toMatchObject({
    isNew: true,
    commit: expect.stringMatching(/\/org\/mine\/commit\/[0-9a-f]{40}$/),
  });
  expect(report.files.map(({ path, state }) => [path, state])).toEqual([
    ["README.md", "new"],
    ["config.json", "new"],
    ["model.safetensors", "new"],
  ]);
  expect([...hub.filesOf("org/mine").keys()].sort()).toEqual([
    "README.md",
    "config.json",
    "model.safetensors",
  ]);
  expect(hub.filesOf("org/mine").get("model.safetensors")).toEqual(Buffer.alloc(5000, 1));
  expect(hub.repositories.get("org/mine")!.isPrivate).toBe(false);
  expect(hub.repositories.get("org/mine")!.branches.get("main")!.titles).toEqual(["step 40"]);
  expect(progress).toContainEqual([5000, 5032]);
  expect(progress.at(-1)).toEqual([5032, 5032]);
});

test("what is there is not sent again; of the same size and other bytes is not the same", async () => {
  await push();
  hub.seen.length = 0;
  expect((await push()).commit).toBeUndefined();
  expect(hub.seen.filter((one) => !one.startsWith("GET"))).toEqual([]);
  write("config.json", '{"model_type": "olmo2"}');
  write("model.safetensors", Buffer.alloc(5000, 2));
  const { files } = await push();
  expect(files.map(({ state }) => state)).toEqual(["there", "changed", "changed"]);
  expect(uploads()).toHaveLength(1);
  expect(hub.filesOf("org/mine").get("model.safetensors")).toEqual(Buffer.alloc(5000, 2));
});

test("large files go in parts; those of an interrupted push are not sent again", async () => {
  hub.partBytes = 2048;
  write("model-2.safetensors", Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 251)));
  hub.refusal = { at: /^POST \/api\/models\/org\/mine\/commit/, status: 503, times: 99 };
  await expect(push()).rejects.toMatchObject({
    code: "HONE_ERR_HUB",
    hint: expect.stringContaining("not sent again"),
  });
  expect(uploads()).toHaveLength(6);
  hub.refusal = undefined;
  hub.seen.length = 0;
  await push();
  expect(uploads()).toEqual([]);
  expect(hub.filesOf("org/mine").get("model-2.safetensors")![4999]).toBe(4999 % 251);
});

test("a request that fails for a while is repeated", async () => {
  hub.refusal = { at: /^PUT/, status: 500, times: 2 };
  await push();
  expect(hub.filesOf("org/mine").get("model.safetensors")).toEqual(Buffer.alloc(5000, 1));
});

test("a branch is made where it is not there; a dry run only reads", async () => {
  await push();
  write("README.md", "# another");
  hub.seen.length = 0;
  expect(await push({ dryRun: true, revision: "step-40" })).toMatchObject({ isNew: false });
  expect(hub.seen.every((one) => one.startsWith("GET"))).toBe(true);
  await push({ revision: "step-40" });
  expect(String(hub.filesOf("org/mine", "step-40").get("README.md"))).toBe("# another");
  expect(String(hub.filesOf("org/mine").get("README.md"))).toBe("# a model");
});

test("a private repository is made on request; a public one is not pushed to as if it were private", async () => {
  await push({ isPrivate: true });
  expect(hub.repositories.get("org/mine")!.isPrivate).toBe(true);
  await push({ isPrivate: true });
  hub.add("org/open");
  await expect(pushFolder(folder, "org/open", { env, isPrivate: true })).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: "org/open exists and is public; --private would not change that",
  });
});

test.each([
  ["no token", { HF_TOKEN: "" }, undefined, "a push needs HF_TOKEN, which is not set", /settings\/tokens/],
  ["a wrong one", { HF_TOKEN: "hf_wrong" }, undefined, /status 401/, /HF_TOKEN is not valid at this Hub/],
  ["no right to write", {}, [/^POST \/api\/repos/, 403], /status 403/, /HF_TOKEN may not write to org\/mine/],
  [
    "a commit meanwhile",
    {},
    [/\/commit\//, 412],
    /status 412/,
    /has changed meanwhile.*run the same command again/,
  ],
  ["one being made", {}, [/^POST \/api\/repos/, 409], /status 409/, /run the same command again/],
  [
    "no network",
    { HF_ENDPOINT: "http://127.0.0.1:9" },
    undefined,
    /ECONNREFUSED|bad port/,
    /Check the network/,
  ],
  ["offline", { HF_HUB_OFFLINE: "1" }, undefined, "HF_HUB_OFFLINE is set", /Unset HF_HUB_OFFLINE/],
] as const)("%s: an error that says what to do", async (_, changed, refusal, message, hint) => {
  if (refusal !== undefined) hub.refusal = { at: refusal[0], status: refusal[1], times: 99 };
  await expect(push({ env: { ...env, ...changed, HOME: folder } })).rejects.toMatchObject({
    code: "HONE_ERR_HUB",
    message: typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  });
});

test("what is no model folder, has a link in it, or no name is refused before anything is asked", async () => {
  await expect(pushFolder(folder, "mine", { env })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
  await expect(pushFolder(folder, "org/mine@step", { env })).rejects.toThrow("is not a repository name");
  symlinkSync("/etc/hostname", join(folder, "vocab.json"));
  await expect(push()).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringContaining("vocab.json is a link"),
  });
  rmSync(join(folder, "vocab.json"));
  rmSync(join(folder, "model.safetensors"));
  await expect(push()).rejects.toThrow(/is neither a model folder nor a folder of adapters/);
  await expect(pushFolder(join(folder, "none"), "org/mine", { env })).rejects.toThrow(
    /cannot read the folder/,
  );
  expect(hub.seen).toEqual([]);
});
