import { once } from "node:events";
import { expect, test } from "vitest";
import { MetricsEndpoint } from "../../lib/metrics/index.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { BAD_REQUESTS, neverReads, REFUSED, UntrustedClient } from "../untrusted-clients.ts";

test("serves what there is at the time it is asked, and nothing else", async () => {
  let asked = 0;
  const endpoint = new MetricsEndpoint({
    host: "127.0.0.1",
    port: 0,
    text: () => `hone_asked ${++asked}\n`,
    warn: () => {},
  });
  const url = (await endpoint.address)!;
  expect(await (await fetch(url)).text()).toBe("hone_asked 1\n");
  expect(await (await fetch(url)).text()).toBe("hone_asked 2\n");
  expect((await fetch(new URL("/other", url))).status).toBe(404);
  expect((await fetch(url, { method: "DELETE" })).status).toBe(405);
  endpoint.close();
  await expect(fetch(url)).rejects.toThrow();
});

test("of several processes each takes the next port that is free, as many as it may", async () => {
  const warnings: string[] = [];
  const at = (port: number, ports: number) =>
    new MetricsEndpoint({
      host: "127.0.0.1",
      port,
      ports,
      text: () => "",
      warn: (text) => warnings.push(text),
    });
  const first = at(0, 1);
  const port = Number(new URL((await first.address)!).port);
  const second = at(port, 20);
  const taken = Number(new URL((await second.address)!).port);
  expect(taken).toBeGreaterThan(port);
  expect(taken).toBeLessThan(port + 20);
  const third = at(port, 1);
  expect(await third.address).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining("EADDRINUSE")]);
  for (const each of [first, second, third]) each.close();
});

test("an untrusted request ends no process, and half-sent or empty ones keep a scraper out for moments only", async () => {
  const endpoint = new MetricsEndpoint({ host: "127.0.0.1", port: 0, text: () => "x 1\n", warn: () => {} });
  const url = (await endpoint.address)!;
  const port = Number(new URL(url).port);
  for (const bad of BAD_REQUESTS) {
    expect(await new UntrustedClient(port, bad).answer, bad.slice(0, 40)).toMatch(REFUSED);
    expect(await (await fetch(url)).text()).toBe("x 1\n");
  }
  const halves = ["", "G", "GET /metrics HTTP/1.1\r\nhost: x\r\n"];
  const waiting = Array.from({ length: 40 }, (_, i) => new UntrustedClient(port, halves[i % 3]!));
  await Promise.all(waiting.map(({ answer }) => answer)); // the server closes all waiting connections
  expect(await (await fetch(url)).text()).toBe("x 1\n");
  endpoint.close();
});

test.runIf(longest)(
  "who asks and never reads is let go",
  async () => {
    const text = "x 1\n".repeat(1 << 18);
    const endpoint = new MetricsEndpoint({ host: "127.0.0.1", port: 0, text: () => text, warn: () => {} });
    const port = Number(new URL((await endpoint.address)!).port);
    const { socket } = await neverReads(port, "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n", 12);
    await once(socket, "close");
    endpoint.close();
  },
  patient(40_000),
);
