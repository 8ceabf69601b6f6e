import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { EventStream, framed } from "../../lib/live/event-stream.ts";
import { patient } from "../patience.ts";

test("an event is one line of data, whatever is in it", () => {
  const record = { step: 1, version: 1, metrics: { "a\n\ndata: x": 1 } };
  const text = framed([["step", { run: 0, record }]], "c");
  const data = /^event: step\ndata: ([^\n]+)\nid: c\n\n$/.exec(text)![1]!;
  expect(JSON.parse(data)).toEqual({ run: 0, record });
});

// A browser that reconnects after the first of several events sends that event's id.
test("of several events only the last one says how far they go", () => {
  const record = { step: 1, version: 1, metrics: {} };
  const text = framed(
    [
      ["step", { run: 0, record }],
      ["step", { run: 0, record }],
      ["reset", {}],
    ],
    "c",
  );
  const events = text.split("\n\n").slice(0, -1);
  expect(events.map((event) => [event.split("\n")[0], event.includes("id: c")])).toEqual([
    ["event: step", false],
    ["event: step", false],
    ["event: reset", true],
  ]);
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
  stream.send([["reset", {}]], "c1");
  expect((await reader.read()).value).toBe("event: reset\ndata: {}\nid: c1\n\n");
  abort.abort();
  await vi.waitFor(() => expect(stream.listeners).toBe(0), { timeout: patient(10_000) });
  stream.close();
  server.close();
});
