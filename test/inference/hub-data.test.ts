// Loads data sets by name from a stand-in Hub on 127.0.0.1.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ResolveOptions } from "../../lib/inference/hub.ts";
import { chosenFiles, parseDatasetName, resolveDataset } from "../../lib/inference/hub-data.ts";
import { StandInHub } from "../fixtures/hub-server.ts";

// Deliberate faults (mutants) that these tests detect: another configuration's files are taken too, a part of a set
// in the cache counts as the whole set, the pinned commit is ignored, the token is sent to another origin.

const FILES = {
  "README.md": "# tiny",
  "dataset_infos.json": "{}",
  "main/train-00000-of-00002.parquet": "first",
  "main/train-00001-of-00002.parquet": "second",
  "main/test-00000-of-00001.parquet": "test",
  "socratic/train-00000-of-00001.parquet": "other",
  "raw/rows.jsonl": "{}",
};

describe("names", () => {
  test.each([
    ["hf:openai/gsm8k", { repo: "openai/gsm8k", revision: "main" }],
    ["hf:openai/gsm8k/main", { repo: "openai/gsm8k", config: "main", revision: "main" }],
    ["hf:openai/gsm8k:test", { repo: "openai/gsm8k", split: "test", revision: "main" }],
    ["hf:a/b/c:d@e", { repo: "a/b", config: "c", split: "d", revision: "e" }],
    ["hf:a/b@refs/pr/1", { repo: "a/b", revision: "refs/pr/1" }],
    ["openai/gsm8k", undefined],
    ["hf:gsm8k", undefined],
    ["hf:a/b/c/d", undefined],
    ["hf:a/../b", undefined],
    ["hf:a/b@../x", undefined],
    ["hf:a/b:", undefined],
  ])("%s", (text, expected) => {
    expect(parseDatasetName(text)).toEqual(expected);
  });
});

describe("the files of a configuration and a split", () => {
  const choose = (paths: readonly string[], name: string) => chosenFiles(paths, parseDatasetName(name)!);
  const all = Object.keys(FILES);

  test("are those of main and train where nothing else is asked for, of parquet before other formats", () => {
    expect(choose(all, "hf:a/b")).toEqual([
      "main/train-00000-of-00002.parquet",
      "main/train-00001-of-00002.parquet",
    ]);
    expect(choose(all, "hf:a/b/socratic")).toEqual(["socratic/train-00000-of-00001.parquet"]);
    expect(choose(all, "hf:a/b:test")).toEqual(["main/test-00000-of-00001.parquet"]);
    expect(choose(["data/train-00000-of-00001.parquet", "data/valid.parquet"], "hf:a/b:val")).toEqual([
      "data/valid.parquet",
    ]);
    expect(choose(["dapo-math-17k.parquet", ".gitattributes"], "hf:a/b")).toEqual(["dapo-math-17k.parquet"]);
    expect(
      choose(["easy/train.parquet", "easy/validation.parquet", "hard/train.parquet"], "hf:a/b/hard"),
    ).toEqual(["hard/train.parquet"]);
    expect(choose(["train.jsonl", "test.jsonl", "config.json"], "hf:a/b")).toEqual(["train.jsonl"]);
    expect(choose(["data/v1_math-00000-of-00001.parquet"], "hf:a/b:v1_math")).toHaveLength(1);
  });

  test.each([
    ["hf:a/b/none", /data set a\/b has no configuration none; it has main, socratic$/],
    ["hf:a/b:dev", /data set a\/b has no split dev|has no split validation; it has/],
  ])("%s is an error that says what there is", (name, message) => {
    expect(() => choose(all, name)).toThrow(message);
  });

  test("must be told where there are several and none is the usual one", () => {
    expect(() => choose(["easy/train.parquet", "hard/train.parquet"], "hf:a/b")).toThrow(
      "data set a/b has several configurations: easy, hard",
    );
    expect(() => choose(["README.md"], "hf:a/b")).toThrow("data set a/b has no file of rows");
  });
});

let dir: string;
let hub: StandInHub;
let endpoint: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-hub-data-"));
  hub = new StandInHub(FILES);
  endpoint = await hub.listen();
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});
const resolve = (name = "hf:org/tiny", { env, ...options }: ResolveOptions = {}, pinned?: string) =>
  resolveDataset(
    name,
    { retryDelaysMs: [1], env: { HF_HOME: dir, HF_ENDPOINT: endpoint, ...env }, ...options },
    pinned,
  );
const texts = (files: readonly string[]) => files.map((file) => readFileSync(file, "utf8"));
const OFFLINE = { env: { HF_HUB_OFFLINE: "1" } };

test("a download brings the files that are asked for, in the layout of Python's cache, once", async () => {
  const found = await resolve();
  expect(found).toMatchObject({ repo: "org/tiny", commit: hub.commit });
  expect(texts(found.files)).toEqual(["first", "second"]);
  expect(found.files[0]).toBe(
    join(dir, "hub/datasets--org--tiny/snapshots", hub.commit, "main/train-00000-of-00002.parquet"),
  );
  expect(hub.seen.filter(({ path }) => path.includes("/resolve/"))).toHaveLength(2);
  await resolve();
  expect(hub.seen.filter(({ path }) => path.includes("/resolve/"))).toHaveLength(2);
});

test("a file whose checksum is wrong twice is refused", async () => {
  hub.corrupt = 9;
  await expect(resolve()).rejects.toMatchObject({ code: "HONE_ERR_FORMAT" });
});

test("the token goes along, and a set that needs one says so", async () => {
  hub.token = "hf_secret";
  await expect(resolve()).rejects.toMatchObject({ code: "HONE_ERR_HUB" });
  expect(texts((await resolve(undefined, { env: { HF_TOKEN: "hf_secret" } })).files)).toHaveLength(2);
});

test("offline, and where the Hub is not reached, what was downloaded is used, whole or not at all", async () => {
  await expect(resolve(undefined, OFFLINE)).rejects.toThrow(
    "data set org/tiny@main is not in the cache, and offline mode forbids asking the Hub",
  );
  const { files } = await resolve();
  const asked = hub.seen.length;
  expect((await resolve(undefined, OFFLINE)).files).toEqual(files);
  expect(hub.seen).toHaveLength(asked);
  await expect(resolve("hf:org/tiny:test", OFFLINE)).rejects.toThrow(
    /lacks main\/test-00000-of-00001\.parquet/,
  );
  const unreachable = { env: { HF_ENDPOINT: "http://127.0.0.1:1" } };
  expect((await resolve(undefined, unreachable)).files).toEqual(files);
  unlinkSync(files[1]!);
  await expect(resolve(undefined, OFFLINE)).rejects.toThrow(/lacks main\/train-00001-of-00002\.parquet/);
});

test("of a set that another client downloaded, the parts that its names tell of must be there", async () => {
  const folder = join(dir, "hub/datasets--org--tiny");
  const snapshot = join(folder, "snapshots", hub.commit, "main");
  mkdirSync(snapshot, { recursive: true });
  mkdirSync(join(folder, "refs"));
  writeFileSync(join(folder, "refs/main"), hub.commit);
  writeFileSync(join(snapshot, "train-00000-of-00002.parquet"), "first");
  await expect(resolve(undefined, OFFLINE)).rejects.toThrow(/lacks main\/train-00001-of-00002\.parquet/);
  writeFileSync(join(snapshot, "train-00001-of-00002.parquet"), "second");
  expect(texts((await resolve(undefined, OFFLINE)).files)).toEqual(["first", "second"]);
});

test("a pinned commit stands for the revision", async () => {
  const first = hub.commit;
  const { files } = await resolve();
  hub.commit = "f".repeat(40);
  expect((await resolve()).commit).toBe("f".repeat(40));
  expect(await resolve(undefined, OFFLINE, first)).toMatchObject({ commit: first, files });
});

test("a name of another form is an error that shows the form", async () => {
  await expect(resolve("hf:tiny")).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    hint: expect.stringContaining("hf:openai/gsm8k/main:train@main") as string,
  });
});
