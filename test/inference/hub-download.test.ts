// Downloads one file over a connection that breaks.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HubClient } from "../../lib/inference/hub-client.ts";
import { downloadFile, downloadHead } from "../../lib/inference/hub-download.ts";
import { PartialFile } from "../../lib/inference/partial-file.ts";
import { StandInHub } from "../fixtures/hub-server.ts";

const WEIGHTS = Buffer.alloc(300_000, "some weights ");
const digest = { algorithm: "sha256", hex: createHash("sha256").update(WEIGHTS).digest("hex") } as const;

let dir: string;
let path: string;
let hub: StandInHub;
let endpoint: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-download-"));
  path = join(dir, "blob");
  hub = new StandInHub({ "model.safetensors": WEIGHTS });
  endpoint = await hub.listen();
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

const ranges = () => hub.rangesOf("model.safetensors");

function download(signal?: AbortSignal, onBytes: (bytes: number) => void = () => {}): Promise<void> {
  const client = new HubClient({ endpoint, signal, retryDelaysMs: [1, 1] });
  const url = client.fileUrl("org/tiny", hub.commit, "model.safetensors");
  const file = { path: "model.safetensors", size: WEIGHTS.length, digest };
  const told = (bytes: number) => {
    hub.hangUp(bytes);
    onBytes(bytes);
  };
  return downloadFile(client, { url, file, path, onBytes: told });
}

function expectWhole(): void {
  expect(readFileSync(path).equals(WEIGHTS)).toBe(true);
  expect(readdirSync(dir)).toEqual(["blob"]);
}

describe("a body that breaks off", () => {
  test("is asked for again from there on, as often as it gets further", async () => {
    hub.cuts.push(100_000, 50_000, 1, 1, 1, 1);
    await download();
    expectWhole();
    const starts = [0, 100_000, 150_000, 150_001, 150_002, 150_003, 150_004];
    expect(ranges()).toEqual(starts.map((n) => `bytes=${n}-`));
  });

  test("without getting further is an error after the last try; the next call goes on", async () => {
    hub.cuts.push(100_000, 0, 0);
    await expect(download()).rejects.toMatchObject({
      code: "HONE_ERR_HUB",
      message: expect.stringContaining("broken off after 100000 of 300000 bytes"),
      hint: expect.stringContaining("kept"),
    });
    expect(existsSync(path)).toBe(false);
    hub.seen.length = 0;
    await download();
    expectWhole();
    expect(ranges()).toEqual(["bytes=100000-"]);
  });

  test("is begun anew where the server knows no ranges", async () => {
    hub.ranges = false;
    hub.cuts.push(100_000);
    await download();
    expectWhole();
  });

  test.each([
    ["other bytes than were asked for", 206, "bytes 0-299999/300000"],
    ["the whole, whatever it says of ranges", 200, "bytes 100000-299999/300000"],
  ])("is begun anew where the server sends %s", async (_, status, range) => {
    hub.answers.push({ status: 206, body: WEIGHTS.subarray(0, 100_000).toString() });
    hub.answers.push({ status, body: WEIGHTS.toString(), headers: { "content-range": range } });
    await download();
    expectWhole();
    expect(ranges()).toEqual(["bytes=0-", "bytes=100000-"]);
  });

  test("is what a body of too few bytes is", async () => {
    hub.answers.push({ status: 200, body: WEIGHTS.subarray(0, 1000).toString() });
    await download();
    expectWhole();
    expect(ranges()).toEqual(["bytes=0-", "bytes=1000-"]);
  });
});

describe("contents", () => {
  test("with another checksum are refused and fetched again, from the start", async () => {
    hub.corrupt = 1;
    await download();
    expectWhole();
    expect(ranges()).toEqual(["bytes=0-", "bytes=0-"]);
  });

  test("wrong twice are an error that names both, and nothing is kept", async () => {
    hub.corrupt = 2;
    await expect(download()).rejects.toMatchObject({
      code: "HONE_ERR_FORMAT",
      message: expect.stringContaining(`sha256 ${digest.hex}`),
    });
    expect(readdirSync(dir)).toEqual([]);
  });

  test("of an earlier attempt that were altered since are found out", async () => {
    writeFileSync(`${path}.partial`, Buffer.alloc(1000));
    await download();
    expectWhole();
    expect(ranges()).toEqual(["bytes=1000-", "bytes=0-"]);
  });

  test("longer than announced are refused", async () => {
    hub.answers.push({ status: 200, body: "x".repeat(WEIGHTS.length + 1) });
    await expect(download()).rejects.toMatchObject({ code: "HONE_ERR_FORMAT" });
  });

  test("that are all there already need no request", async () => {
    writeFileSync(`${path}.partial`, WEIGHTS);
    await download();
    expectWhole();
    expect(ranges()).toEqual([]);
  });
});

test("called off, it stops at once and keeps what it has", async () => {
  const controller = new AbortController();
  const received: number[] = [];
  const stopped = download(controller.signal, (bytes) => {
    received.push(bytes);
    if (bytes > 0) controller.abort();
  });
  await expect(stopped).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
  expect(readFileSync(`${path}.partial`).length).toBe(received.at(-1));
  await download();
  expectWhole();
});

test("two at once fetch it once", async () => {
  await Promise.all([download(), download(), download()]);
  expectWhole();
  expect(ranges().length).toBe(1);
});

test("one that another has finished between the look for it and the claim is not fetched again", async () => {
  const open = PartialFile.open.bind(PartialFile);
  const claims = vi.spyOn(PartialFile, "open").mockImplementationOnce((...of) => {
    writeFileSync(path, WEIGHTS); // the other process finishes and removes its partial file
    return open(...of);
  });
  try {
    await download();
  } finally {
    claims.mockRestore();
  }
  expectWhole();
  expect(ranges()).toEqual([]);
});

test("what a killed process left is gone on with", async () => {
  const child = fileURLToPath(new URL("./hub-download-child.ts", import.meta.url));
  hub.cuts.push(120_000); // then the server sends nothing and keeps the connection open
  const process_ = spawn(process.execPath, [
    "--import",
    "tsx",
    child,
    endpoint,
    hub.commit,
    path,
    digest.hex,
  ]);
  await new Promise<void>((resolve) => process_.stdout.on("data", () => resolve()));
  process_.kill("SIGKILL");
  await new Promise((resolve) => process_.on("exit", resolve));
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/^blob\.[0-9a-f]{8}-\d+-1\.partial$/)]);
  hub.seen.length = 0;
  await download();
  expectWhole();
  expect(ranges()).toEqual(["bytes=120000-"]);
});

test("a full disk is an error that says so", async () => {
  const child = fileURLToPath(new URL("./hub-download-child.ts", import.meta.url));
  const command = `ulimit -f 100; exec "${process.execPath}" --import tsx "$@"`;
  const args = ["-c", command, "bash", child, endpoint, hub.commit, path, digest.hex];
  const process_ = spawn("bash", args, { env: { ...process.env, TSX_DISABLE_CACHE: "1" } });
  let said = "";
  process_.stdout.on("data", (text: Buffer) => {
    said += text.toString();
  });
  await new Promise((resolve) => process_.on("close", resolve)); // the last output may arrive after the exit
  expect(said).toMatch(/^HONE_ERR_IO .*EFBIG.* The disk of the cache is full/);
});

describe("the first bytes alone", () => {
  function head(bytes: number): Promise<Buffer> {
    const client = new HubClient({ endpoint, retryDelaysMs: [1, 1] });
    return downloadHead(client, client.fileUrl("org/tiny", hub.commit, "model.safetensors"), bytes);
  }

  test.each([true, false])(
    "are as many as were asked for, packed in nothing (ranges known: %s)",
    async (known) => {
      hub.ranges = known;
      expect((await head(100_001)).equals(WEIGHTS.subarray(0, 100_001))).toBe(true);
      expect((await head(WEIGHTS.length)).equals(WEIGHTS)).toBe(true);
      expect(ranges()).toEqual(["bytes=0-100000", "bytes=0-299999"]);
      expect(new Set(hub.seen.map(({ encoding }) => encoding))).toEqual(new Set(["identity"]));
    },
  );

  test("that end too soon are asked for again from the start, and in the end named", async () => {
    const short = { status: 206, body: "some" };
    hub.answers.push(short, short);
    expect((await head(20)).equals(WEIGHTS.subarray(0, 20))).toBe(true);
    hub.answers.push(short, short, short);
    await expect(head(20)).rejects.toMatchObject({
      code: "HONE_ERR_HUB",
      message: expect.stringContaining("broken off after 4 of 20 bytes: the body ends"),
      hint: "Run the same command again.", // no part was kept
    });
  });
});
