import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CachedModel,
  hubCacheFolder,
  hubIsOffline,
  hubToken,
  missingFile,
  shardsOf,
} from "../../lib/inference/hub-cache.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-cache-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("the environment, as Python's client reads it", () => {
  test.each([
    [{}, join(homedir(), ".cache/huggingface/hub")],
    [{ XDG_CACHE_HOME: "/x" }, "/x/huggingface/hub"],
    [{ XDG_CACHE_HOME: "/x", HF_HOME: "/h" }, "/h/hub"],
    [{ HF_HOME: "~/h" }, join(homedir(), "h/hub")],
    [{ HF_HOME: "/h", HUGGINGFACE_HUB_CACHE: "/old" }, "/old"],
    [{ HF_HOME: "/h", HUGGINGFACE_HUB_CACHE: "/old", HF_HUB_CACHE: "/c" }, "/c"],
    [{ HF_HUB_CACHE: "" }, join(homedir(), ".cache/huggingface/hub")],
  ])("%j keeps models in %s", (env, folder) => {
    expect(hubCacheFolder(env)).toBe(folder);
  });

  test.each([
    ["1", true],
    ["ON", true],
    ["yes", true],
    ["True", true],
    ["0", false],
    ["", false],
    ["off", false],
    [undefined, false],
  ])("HF_HUB_OFFLINE=%s is %s", (value, offline) => {
    expect(hubIsOffline({ HF_HUB_OFFLINE: value })).toBe(offline);
    expect(hubIsOffline({ TRANSFORMERS_OFFLINE: value })).toBe(offline);
  });

  test("a token comes from HF_TOKEN, or from where a login keeps it", () => {
    writeFileSync(join(dir, "token"), "hf_stored\n");
    expect(hubToken({ HF_HOME: dir })).toBe("hf_stored");
    expect(hubToken({ HF_HOME: dir, HF_TOKEN: " hf_set " })).toBe("hf_set");
    expect(hubToken({ HF_HOME: "/nowhere", HF_TOKEN_PATH: join(dir, "token") })).toBe("hf_stored");
    expect(hubToken({ HF_HOME: "/nowhere" })).toBeUndefined();
    writeFileSync(join(dir, "token"), "\n");
    expect(hubToken({ HF_HOME: dir })).toBeUndefined();
  });
});

describe("a model's folder", () => {
  const commit = "c".repeat(40);
  const file = (path: string, size: number) => ({
    path,
    size,
    digest: { algorithm: "git-sha1", hex: "d".repeat(40) } as const,
  });

  test("keeps one blob for a file, and each snapshot's name for it", async () => {
    const model = new CachedModel(dir, "org/name");
    const stored = file("sub/x.json", 3);
    await model.prepare(3);
    expect(await model.has(stored)).toBe(false);
    writeFileSync(model.blob(stored), "abc");
    expect(await model.has(stored)).toBe(true);
    expect(await model.has(file("sub/x.json", 4))).toBe(false); // the file was truncated
    await model.link(commit, stored);
    await model.link(commit, stored);
    expect(readFileSync(join(dir, "models--org--name/snapshots", commit, "sub/x.json"), "utf8")).toBe("abc");
  });

  test("replaces a link that leads nowhere", async () => {
    const model = new CachedModel(dir, "org/name");
    const stored = file("x.json", 3);
    await model.prepare(3);
    await model.link(commit, stored);
    expect(existsSync(join(model.snapshot(commit), "x.json"))).toBe(false);
    writeFileSync(model.blob(stored), "abc");
    await model.link(commit, stored);
    expect(readFileSync(join(model.snapshot(commit), "x.json"), "utf8")).toBe("abc");
  });

  test("remembers what a revision was, and only that", async () => {
    const model = new CachedModel(dir, "org/name");
    expect(await model.commitOf("main")).toBeUndefined();
    await model.remember("main", commit);
    await model.remember("refs/pr/1", "e".repeat(40));
    await model.remember(commit, commit);
    expect(await model.commitOf("main")).toBe(commit);
    expect(await model.commitOf("refs/pr/1")).toBe("e".repeat(40));
    expect(await model.commitOf(commit)).toBe(commit);
    expect(readdirSync(join(model.folder, "refs")).sort()).toEqual(["main", "refs"]);
  });

  test("on a disk that is too small or cannot be written says so", async () => {
    const model = new CachedModel(dir, "org/name");
    await expect(model.prepare(2 ** 62)).rejects.toMatchObject({ code: "HONE_ERR_IO" });
    writeFileSync(join(dir, "file"), "");
    await expect(new CachedModel(join(dir, "file"), "org/name").prepare(0)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining("ENOTDIR"),
    });
  });
});

describe("a snapshot is complete", () => {
  test("with a config and every shard of its index, or the one file", () => {
    expect(missingFile(dir, true)).toBe("config.json");
    writeFileSync(join(dir, "config.json"), "{}");
    expect(missingFile(dir, true)).toBe("model.safetensors");
    expect(missingFile(dir, false)).toBeUndefined();
    writeFileSync(join(dir, "model.safetensors"), "");
    expect(missingFile(dir, true)).toBeUndefined();
    const index = { weight_map: { a: "a.safetensors", b: "b.safetensors", c: "a.safetensors" } };
    writeFileSync(join(dir, "model.safetensors.index.json"), JSON.stringify(index));
    writeFileSync(join(dir, "a.safetensors"), "");
    expect(missingFile(dir, true)).toBe("b.safetensors");
    mkdirSync(join(dir, "b.safetensors"));
    expect(missingFile(dir, true)).toBeUndefined();
  });

  test.each([
    ["not JSON", "{"],
    ["no map", "{}"],
    ["an empty map", '{"weight_map":{}}'],
    ["a map of numbers", '{"weight_map":{"a":1}}'],
    ["a path", '{"weight_map":{"a":"x/y.safetensors"}}'],
    ["the folder above", '{"weight_map":{"a":"..safetensors"}}'],
    ["an absolute path", '{"weight_map":{"a":"/x.safetensors"}}'],
    ["another kind of file", '{"weight_map":{"a":"x.bin"}}'],
  ])("an index with %s is refused", (_, text) => {
    expect(() => shardsOf(text, "index.json")).toThrow(
      expect.objectContaining({ code: "HONE_ERR_FORMAT", message: expect.stringContaining("index.json") }),
    );
  });
});
