// Clients that connect to a port of a run without belonging to it: scans, probes, incomplete browser requests.
import diagnostics from "node:diagnostics_channel";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";

const filled = (text: string) => `GET /${text} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n`;

/** Requests that a server must refuse. */
export const BAD_REQUESTS: readonly string[] = [
  "garbage\r\n\r\n",
  "\0".repeat(4096),
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", // TLS
  `GET // HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
  `GET http://[ HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
  `GET http://x:99999/ HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
  `${filled("%E0%A4%A")}\r\n`,
  `${filled("x")}\r\n`,
  `${filled("x")}x: ${"y".repeat(1 << 20)}\r\n\r\n`,
  filled("x") + Array.from({ length: 5000 }, (_, i) => `x${i}: y\r\n`).join(""),
  `${filled("x")}content-length: -1\r\n\r\n`,
  `${filled("x")}transfer-encoding: chunked\r\n\r\nzz\r\n`,
  `${filled("x")}expect: the-impossible\r\n\r\n`,
  `${filled("x")}upgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
];

/** Matches an immediate refusal: 408 would mean that the server waited for the rest of the request. */
export const REFUSED = /^HTTP\/1\.1 (?!408)[45]\d\d /;

/** A connection that sends one text, and then nothing more. */
export class UntrustedClient {
  /** All that the client receives until the other side ends or refuses the connection. */
  readonly answer: Promise<string>;

  constructor(port: number, says: string) {
    const socket = connect(port, "127.0.0.1");
    let heard = "";
    socket.on("data", (part) => {
      heard += part.toString("latin1");
    });
    socket.on("error", () => {}); // reset
    socket.write(Buffer.from(says, "latin1"));
    this.answer = new Promise((resolve) => socket.on("close", () => resolve(heard)));
  }
}

/** The server's side of a connection: its socket and its server, both in this process. */
export interface Held {
  readonly socket: Socket;
  readonly server: Server;
}

/** Connects, sends this text the given number of times, and never reads an answer. */
export async function neverReads(port: number, says: string, times: number): Promise<Held> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {}); // reset
  const held = new Promise<Held>((resolve) => {
    const started = (message: unknown) => {
      const { socket: there, server } = message as Held;
      if (there.remotePort !== socket.localPort) return;
      diagnostics.unsubscribe("http.server.request.start", started);
      resolve({ socket: there, server });
    };
    diagnostics.subscribe("http.server.request.start", started);
  });
  socket.pause().write(says.repeat(times));
  return await held;
}
