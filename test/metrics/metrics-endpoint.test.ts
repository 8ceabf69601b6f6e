import { expect, test } from "vitest";
import { MetricsEndpoint } from "../../lib/metrics/index.ts";

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
