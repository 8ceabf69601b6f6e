import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { limitConnections } from "../../../lib/shared/http/connection-limit.ts";

const MOST = 4;
const REQUEST = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

/** A server that answers when the test lets it. */
async function opened() {
  const waiting: ServerResponse[] = [];
  const server = createServer((_, response) => waiting.push(response));
  limitConnections(server, MOST);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = async (says = ""): Promise<Socket> => {
    const asked = once(server, says === REQUEST ? "request" : "connection");
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    if (says !== "") socket.write(says);
    await asked;
    return socket;
  };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { client, waiting, [Symbol.dispose]: close };
}

test("one too many ends the connection that has been silent longest, never one with a request", async () => {
  using server = await opened();
  const asking = await server.client(REQUEST);
  const [first, second, third] = [
    await server.client(),
    await server.client("GET / HT"),
    await server.client(),
  ];
  const ends: string[] = [];
  for (const [name, socket] of Object.entries({ asking, first, second, third }))
    socket.on("close", () => ends.push(name));
  await server.client(REQUEST);
  await once(first, "close");
  await server.client(REQUEST);
  await once(second, "close");
  expect(ends).toEqual(["first", "second"]);
});

test("where every connection has a request, the new one is ended; an answered one counts as silent again", async () => {
  using server = await opened();
  const asking = [];
  for (let i = 0; i < MOST; i++) asking.push(await server.client(REQUEST));
  await once(await server.client(), "close");
  server.waiting[2]!.end("done");
  await once(asking[2]!, "data");
  const next = await server.client(REQUEST);
  await once(asking[2]!, "close");
  expect([asking[0], asking[1], asking[3], next].every((socket) => !socket!.destroyed)).toBe(true);
});
