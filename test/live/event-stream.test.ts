import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { EventStream, framed } from "../../lib/live/event-stream.ts";
import { patient } from "../patience.ts";

test("an event is one line of data, whatever is in it", () => {
  const text = framed(
    "step",
    { run: 0, record: { step: 1, version: 1, metrics: { "a\n\ndata: x": 1 } } },
    "c",
  );
  expect(text).toMatch(/^event: step\nid: c\ndata: [^\n]+\n\n$/);
  expect(JSON.parse(text.split("data: ").slice(1).join("data: "))).toMatchObject({ run: 0 });
});

test("reaches everybody who listens, until they leave", async () => {
  const stream = new EventStream();
  const server = createServer((_, response) => stream.add(response)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const abort = new AbortController();
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}`, { signal: abort.signal });
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toContain("retry:");
  stream.send("reset", {}, "c1");
  expect((await reader.read()).value).toContain("event: reset\nid: c1\n");
  abort.abort();
  await vi.waitFor(() => expect(stream.listeners).toBe(0), { timeout: patient(10_000) });
  stream.close();
  server.close();
});
