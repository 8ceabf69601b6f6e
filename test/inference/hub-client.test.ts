// Tests the answers that a Hub may give, and what the client does with each.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HubClient } from "../../lib/inference/hub-client.ts";
import { StandInHub } from "../fixtures/hub-server.ts";

let hub: StandInHub;
let endpoint: string;
beforeEach(async () => {
  hub = new StandInHub({ "config.json": "{}", "a/b c.json": "[]", "model.safetensors": "w" });
  endpoint = await hub.listen();
});
afterEach(() => hub[Symbol.asyncDispose]());

const client = (token?: string, signal?: AbortSignal) =>
  new HubClient({ endpoint: `${endpoint}/`, token, signal, retryDelaysMs: [1, 1] });
const get = (path: string, token?: string) =>
  client(token).get(client().fileUrl("org/tiny", hub.commit, path));

test("a commit is described by its files, sizes and checksums", async () => {
  expect(await client().describe("org/tiny", "main")).toEqual({
    id: hub.commit,
    files: [
      {
        path: "config.json",
        size: 2,
        // git hash-object
        digest: { algorithm: "git-sha1", hex: "9e26dfeeb6e641a33dae4961196235bdb965b21b" },
      },
      {
        path: "a/b c.json",
        size: 2,
        digest: { algorithm: "git-sha1", hex: "0637a088a01e8ddab3bf3fa98dbe804cbde1a0dc" },
      },
      {
        path: "model.safetensors",
        size: 1,
        // sha256sum
        digest: {
          algorithm: "sha256",
          hex: "50e721e49c013f00c62cf59f2163542a9d8df02464efeb615d31051b0fddc326",
        },
      },
    ],
  });
  expect(hub.seen.map(({ path }) => path)).toEqual([
    "/api/models/org/tiny/revision/main",
    `/api/models/org/tiny/tree/${hub.commit}`,
  ]);
});

test("names in addresses are escaped", async () => {
  expect(await (await get("a/b c.json")).text()).toBe("[]");
  expect(client().fileUrl("org/tiny", "c", "a?b/#c")).toBe(`${endpoint}/org/tiny/resolve/c/a%3Fb/%23c`);
});

describe("a refusal", () => {
  test.each([
    [401, {}, undefined, "set HF_TOKEN"],
    [401, {}, "hf_x", "HF_TOKEN is not valid"],
    [401, { "x-error-code": "GatedRepo" }, undefined, "Accept the model's conditions"],
    [403, {}, "hf_x", "Accept the model's conditions"],
    [404, {}, undefined, "no model of that name"],
    [404, { "x-error-code": "RevisionNotFound" }, undefined, "no such branch"],
  ])("of status %s %j with token %s is not repeated: %s", async (status, headers, token, hint) => {
    hub.answers.push({ status, headers, body: "why not" });
    await expect(get("config.json", token)).rejects.toMatchObject({
      code: "HONE_ERR_HUB",
      message: `${endpoint}/org/tiny/resolve/${hub.commit}/config.json: status ${status}, "why not"`,
      hint: expect.stringContaining(hint),
      details: { status, reached: true },
    });
    expect(hub.seen).toHaveLength(1);
  });

  test.each([
    [429, "limits requests"],
    [500, "internal error"],
    [503, "internal error"],
  ])("of status %s is asked again, and told after the last time", async (status, hint) => {
    hub.answers.push({ status }, { status });
    expect(await (await get("config.json")).text()).toBe("{}");
    hub.answers.push({ status }, { status }, { status });
    await expect(get("config.json")).rejects.toMatchObject({
      hint: expect.stringContaining(hint),
      details: { status },
    });
    expect(hub.seen).toHaveLength(6);
  });

  test("that says when to come back is believed", async () => {
    hub.answers.push({ status: 429, headers: { "retry-after": "1" } });
    const begun = performance.now();
    await get("config.json");
    expect(performance.now() - begun).toBeGreaterThan(990);
  });

  const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
  test.each([
    ["a day in seconds", () => "86400", 60_000],
    ["a date in an hour", inAnHour, 60_000],
    ["a date that is over", () => "Fri, 01 Jan 2021 00:00:00 GMT", 1],
    ["less than nothing", () => "-5", 1],
    ["no number and no date", () => "soon", 1],
  ])("that says %s is asked again: within a minute, and no sooner than without it", async (_, said, ms) => {
    const pause = vi.spyOn(HubClient.prototype, "pause").mockResolvedValue();
    hub.answers.push({ status: 503, headers: { "retry-after": said() } });
    await get("config.json");
    expect(pause.mock.calls).toEqual([[ms]]);
    pause.mockRestore();
  });
});

describe("the token", () => {
  test("goes to the endpoint, but not where that redirects to", async () => {
    await using cdn = new StandInHub({ "config.json": "{}" });
    hub.token = "hf_secret";
    hub.cdn = await cdn.listen();
    expect(await (await get("config.json", "hf_secret")).text()).toBe("{}");
    expect(hub.seen.map(({ authorization }) => authorization)).toEqual(["Bearer hf_secret"]);
    expect(cdn.seen.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test("goes nowhere else, even if a listing says where it continues", async () => {
    await using other = new StandInHub({});
    const next = `${await other.listen()}/more`;
    hub.token = "hf_secret";
    const id = JSON.stringify({ id: "org/tiny", sha: hub.commit });
    hub.answers.push(
      { status: 200, body: id },
      { status: 200, headers: { link: `<${next}>; rel="next"` }, body: "[]" },
    );
    other.answers.push({ status: 200, body: "[]" });
    await client("hf_secret").describe("org/tiny", "main");
    expect(other.seen.map(({ path, authorization }) => [path, authorization])).toEqual([
      ["/more", undefined],
    ]);
  });
});

describe("an endpoint that is no Hub", () => {
  const commit = () => JSON.stringify({ id: "org/tiny", sha: hub.commit });
  test.each([
    ["a login page", () => ["<html>"]],
    ["a commit that is none", () => ['{"id":"org/tiny","sha":"../../x"}']],
    ["a checksum that is none", () => [commit(), '[{"type":"file","path":"a","size":1,"oid":"../../../x"}]']],
    ["a checksum that is absent", () => [commit(), '[{"type":"file","path":"a","size":1}]']],
    ["a listing that is none", () => [commit(), '{"error":1}']],
  ])("%s", async (_, bodies) => {
    hub.answers.push(...bodies().map((body) => ({ status: 200, body })));
    await expect(client().describe("org/tiny", "main")).rejects.toMatchObject({
      code: "HONE_ERR_HUB",
      message: expect.stringContaining("does not answer as a Hub does"),
    });
  });
});

test("without the optional package, the error says how to get it", async () => {
  vi.doMock("@huggingface/hub", () => {
    throw new Error("Cannot find package");
  });
  await expect(client().describe("org/tiny", "main")).rejects.toMatchObject({
    code: "HONE_ERR_UNSUPPORTED",
    hint: expect.stringContaining("npm install @huggingface/hub"),
  });
  vi.doUnmock("@huggingface/hub");
});

test("an endpoint that is no address is named", async () => {
  const lost = new HubClient({ endpoint: "huggingface.co", retryDelaysMs: [] });
  await expect(lost.describe("org/tiny", "main")).rejects.toMatchObject({
    code: "HONE_ERR_HUB",
    message: expect.stringContaining("huggingface.co"),
  });
});

describe("giving up", () => {
  test("ends a pause at once", async () => {
    const controller = new AbortController();
    const paused = client(undefined, controller.signal).pause(60_000);
    controller.abort();
    await expect(paused).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
  });

  test("before a request sends none", async () => {
    await expect(client(undefined, AbortSignal.abort()).get(`${endpoint}/x`)).rejects.toMatchObject({
      code: "HONE_ERR_ABORTED",
    });
    expect(hub.seen).toEqual([]);
  });
});
