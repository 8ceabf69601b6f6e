import { expect, test } from "vitest";
import { PrometheusEndpoint } from "../../lib/trackers/prometheus-endpoint.ts";

const at = (host: string, port: number, warnings: string[] = []) =>
  new PrometheusEndpoint({ host, port, labels: { run: "demo" }, warn: (text) => void warnings.push(text) });

test("serves the last step, and nothing else", async () => {
  const endpoint = at("127.0.0.1", 0);
  const url = (await endpoint.address)!;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  expect(await (await fetch(url)).text()).toBe("");
  endpoint.write({ step: 1, version: 1, metrics: { "score/mean": 0.25 } });
  endpoint.write({ step: 2, version: 2, metrics: { "score/mean": 0.5 } });
  const answer = await fetch(`${url}?x=1`);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(await answer.text()).toBe(
    '# TYPE hone_step gauge\nhone_step{run="demo"} 2\n# TYPE hone_score_mean gauge\nhone_score_mean{run="demo"} 0.5\n',
  );
  expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(url, { method: "POST", body: "x" })).status).toBe(405);
  expect((await fetch(new URL("/", url))).status).toBe(404);
  endpoint.close();
  endpoint.close();
  await expect(fetch(url)).rejects.toThrow();
});

test("a port that is taken is a warning, and the run goes on", async () => {
  const first = at("127.0.0.1", 0);
  const port = Number(new URL((await first.address)!).port);
  const warnings: string[] = [];
  const second = at("127.0.0.1", port, warnings);
  expect(await second.address).toBeUndefined();
  second.write({ step: 1, version: 1, metrics: {} });
  expect(warnings).toEqual([
    expect.stringMatching(/^the run continues without serving metrics at 127\.0\.0\.1:\d+: .*EADDRINUSE/),
  ]);
  second.close();
  first.close();
});
