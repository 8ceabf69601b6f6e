// Loads models by name from a stand-in Hub on 127.0.0.1.
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type DownloadProgress,
  parseHubName,
  type ResolveOptions,
  resolveModelFolder,
} from "../../lib/inference/hub.ts";
import { StandInHub } from "../fixtures/hub-server.ts";

const WEIGHTS = Buffer.alloc(300_000, "some weights ");
const FILES = {
  "config.json": '{"model_type":"llama"}',
  "tokenizer.json": "{}",
  "generation_config.json": "{ }",
  "chat_template.jinja": "{{ messages }}",
  "additional_chat_templates/tool_use.jinja": "{{ tools }}",
  "model.safetensors": WEIGHTS,
  "consolidated.safetensors": "the same again, in another naming",
  "pytorch_model.bin": "pickled",
  "pytorch_model.bin.index.json": "{}",
  "README.md": "# tiny",
  "onnx/config.json": "{}",
};
const NEEDED = [
  "additional_chat_templates",
  "chat_template.jinja",
  "config.json",
  "generation_config.json",
  "model.safetensors",
  "tokenizer.json",
];

let dir: string;
let hub: StandInHub;
let endpoint: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-hub-"));
  hub = new StandInHub(FILES);
  endpoint = await hub.listen();
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

const resolve = (name = "org/tiny", { env, ...options }: ResolveOptions = {}) =>
  resolveModelFolder(name, {
    retryDelaysMs: [1, 1],
    env: { HF_HOME: dir, HF_ENDPOINT: endpoint, ...env },
    ...options,
  });
const model = () => join(dir, "hub", "models--org--tiny");
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const weightsRequests = () => hub.rangesOf("model.safetensors");

describe("names", () => {
  test.each([
    ["org/name", { repo: "org/name", revision: "main" }],
    ["Qwen/Qwen3-0.6B", { repo: "Qwen/Qwen3-0.6B", revision: "main" }],
    ["org/a.b_c-d@v1.0", { repo: "org/a.b_c-d", revision: "v1.0" }],
    ["org/name@refs/pr/1", { repo: "org/name", revision: "refs/pr/1" }],
    ["name", undefined],
    ["./org/name", undefined],
    ["/org/name", undefined],
    ["../name", undefined],
    ["org/..", undefined],
    ["org/a--b", undefined],
    ["org/a..b", undefined],
    ["org/name.", undefined],
    ["org/name@", undefined],
    ["org/name@../../x", undefined],
    ["org/name@a/../b", undefined],
    ["org/name@a..b", undefined],
    ["a/b/c", undefined],
    [`org/${"x".repeat(92)}`, { repo: `org/${"x".repeat(92)}`, revision: "main" }],
    [`org/${"x".repeat(93)}`, undefined],
    ["org/na me", undefined],
  ])("%s", (text, expected) => {
    expect(parseHubName(text)).toEqual(expected);
  });

  test("a folder that exists is what is meant, and nobody is asked", async () => {
    expect(await resolve(dir)).toBe(dir);
    expect(hub.seen).toEqual([]);
  });

  test("what is neither says both", async () => {
    await expect(resolve("./nowhere")).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining(", and ./nowhere is not the name of a model on the Hub"),
      hint: expect.stringContaining("org/name@revision"),
    });
  });
});

describe("a download", () => {
  test("brings the files that are needed, in the layout of Python's cache", async () => {
    const folder = await resolve();
    expect(folder).toBe(join(model(), "snapshots", hub.commit));
    expect(readdirSync(folder).sort()).toEqual(NEEDED);
    expect(readFileSync(join(folder, "model.safetensors"))).toEqual(WEIGHTS);
    expect(readlinkSync(join(folder, "model.safetensors"))).toBe(`../../blobs/${sha256(WEIGHTS)}`);
    expect(readFileSync(join(folder, "additional_chat_templates/tool_use.jinja"), "utf8")).toBe(
      "{{ tools }}",
    );
    expect(readFileSync(join(model(), "refs", "main"), "utf8")).toBe(hub.commit);
    // each blob is named by its checksum
    expect(
      readdirSync(join(model(), "blobs")).every((name) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(name)),
    ).toBe(true);
    expect(readdirSync(join(model(), "blobs"))).toHaveLength(6);
  });

  test("happens once: the second time only the names are asked for", async () => {
    const folder = await resolve();
    const before = hub.seen.length;
    expect(await resolve()).toBe(folder);
    expect(hub.seen.slice(before).map(({ path }) => path.split("/").slice(0, 3).join("/"))).toEqual([
      "/api/models",
      "/api/models",
    ]);
  });

  test("without weights leaves them out", async () => {
    const folder = await resolve("org/tiny", { withWeights: false });
    expect(readdirSync(folder)).toEqual(NEEDED.filter((name) => name !== "model.safetensors"));
    expect(weightsRequests()).toEqual([]);
  });

  test("takes the shards that the index names, and no other weights", async () => {
    const map = { a: "model-00001-of-00002.safetensors", b: "model-00002-of-00002.safetensors" };
    hub.files.delete("model.safetensors");
    hub.files.set("model.safetensors.index.json", Buffer.from(JSON.stringify({ weight_map: map })));
    for (const name of Object.values(map)) hub.files.set(name, Buffer.from(name));
    const folder = await resolve();
    const weights = readdirSync(folder).filter((name) => name.includes("safetensors"));
    expect(weights).toEqual([map.a, map.b, "model.safetensors.index.json"]);
    hub.files.delete(map.b);
    await expect(resolve()).rejects.toMatchObject({
      code: "HONE_ERR_UNSUPPORTED",
      message: expect.stringContaining(map.b),
    });
  });

  test("refuses an index that points out of the folder", async () => {
    const index = JSON.stringify({ weight_map: { a: "../../../.ssh/config.safetensors" } });
    hub.files.set("model.safetensors.index.json", Buffer.from(index));
    await expect(resolve()).rejects.toMatchObject({
      code: "HONE_ERR_FORMAT",
      message: expect.stringContaining("../.ssh"),
    });
  });

  test("tells how far it is", async () => {
    const progress: DownloadProgress[] = [];
    await resolve("org/tiny", { onProgress: (p) => progress.push(p) });
    const total = NEEDED.map((name) =>
      name === "additional_chat_templates" ? 11 : hub.files.get(name)!.length,
    );
    const sum = total.reduce((a, b) => a + b);
    expect(progress.at(-1)).toEqual({ file: "model.safetensors", bytes: sum, totalBytes: sum });
    expect(progress.map(({ bytes }) => bytes)).toEqual(
      progress.map(({ bytes }) => bytes).sort((a, b) => a - b),
    );
  });

  test("wants a disk with room", async () => {
    hub.answers.push(
      { status: 200, body: JSON.stringify({ id: "org/tiny", sha: hub.commit }) },
      {
        status: 200,
        body: JSON.stringify([
          { type: "file", path: "model.safetensors", size: 1, lfs: { oid: "0".repeat(64), size: 2 ** 62 } },
        ]),
      },
    );
    await expect(resolve()).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      hint: expect.stringContaining("HF_HOME"),
    });
  });
});

describe("offline", () => {
  const offline = { HF_HUB_OFFLINE: "1" };

  test("takes what is in the cache and asks nobody", async () => {
    const folder = await resolve();
    const before = hub.seen.length;
    expect(await resolve("org/tiny", { env: offline })).toBe(folder);
    expect(await resolve(`org/tiny@${hub.commit}`, { offline: true })).toBe(folder);
    expect(hub.seen).toHaveLength(before);
  });

  test("finds what Python's client downloaded", async () => {
    const snapshot = join(model(), "snapshots", "a".repeat(40));
    mkdirSync(join(model(), "refs"), { recursive: true });
    mkdirSync(snapshot, { recursive: true });
    writeFileSync(join(model(), "refs", "main"), "a".repeat(40));
    writeFileSync(join(snapshot, "config.json"), "{}");
    await expect(resolve("org/tiny", { env: offline })).rejects.toMatchObject({
      message: "org/tiny@main lacks model.safetensors in the cache, and offline mode forbids asking the Hub",
    });
    expect(await resolve("org/tiny", { env: offline, withWeights: false })).toBe(snapshot);
    writeFileSync(join(snapshot, "model.safetensors"), "");
    expect(await resolve("org/tiny", { env: offline })).toBe(snapshot);
  });

  test("says what is not there", async () => {
    await expect(resolve("org/tiny@v2", { env: offline })).rejects.toMatchObject({
      code: "HONE_ERR_HUB",
      message: "org/tiny@v2 is not in the cache, and offline mode forbids asking the Hub",
      hint: expect.stringContaining("HF_HUB_OFFLINE"),
    });
  });

  test("offline: false asks whatever the environment says", async () => {
    await resolve("org/tiny", { env: offline, offline: false });
    expect(hub.seen.length).toBeGreaterThan(0);
  });
});

describe("a Hub that cannot be reached", () => {
  const nowhere = { HF_ENDPOINT: "http://127.0.0.1:9" };

  test("is done without, where the cache is complete", async () => {
    const folder = await resolve();
    // only one request is sent: a retry would wait a minute
    expect(await resolve("org/tiny", { env: nowhere, retryDelaysMs: [60_000] })).toBe(folder);
    rmSync(join(folder, "model.safetensors"));
    await expect(resolve("org/tiny", { env: nowhere })).rejects.toMatchObject({ code: "HONE_ERR_HUB" });
  });

  test("is an error otherwise, with the next step", async () => {
    await expect(resolve("org/tiny", { env: nowhere })).rejects.toMatchObject({
      code: "HONE_ERR_HUB",
      message: expect.stringMatching(
        /^there is no folder \/.*org\/tiny; tried as a model of the Hub: http:\/\/127\.0\.0\.1:9\/api\/models\/org\/tiny/,
      ),
      hint: expect.stringContaining("HF_ENDPOINT"),
    });
  });

  test("a Hub that says no is believed, whatever the cache holds", async () => {
    await resolve();
    hub.token = "hf_other";
    await expect(resolve()).rejects.toMatchObject({ code: "HONE_ERR_HUB", details: { status: 401 } });
  });
});

test("with HF_TOKEN, a gated model", async () => {
  hub.token = "hf_right";
  const folder = await resolve("org/tiny", { env: { HF_TOKEN: "hf_right" } });
  expect(readdirSync(folder).sort()).toEqual(NEEDED);
});
