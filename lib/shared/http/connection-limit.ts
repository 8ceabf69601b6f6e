import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Limits the open connections of a server. A connection over the limit closes the one that has been without a request
 * for longest, so silent clients make room for active ones. If every connection has a request, closes the new one.
 */
export function limitConnections(server: Server, most: number): void {
  const open = new Set<Socket>();
  /** Connections without a request in progress, the longest silent first. */
  const silent = new Set<Socket>();
  const forget = (socket: Socket) => {
    open.delete(socket);
    silent.delete(socket);
  };
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    silent.add(socket);
    socket.once("close", () => forget(socket));
    if (open.size <= most) return;
    const [oldest = socket] = silent;
    forget(oldest);
    oldest.destroy();
  });
  server.on("request", ({ socket }, response) => {
    silent.delete(socket);
    response.once("close", () => open.has(socket) && silent.add(socket));
  });
}
