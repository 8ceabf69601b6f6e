import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Limits the open connections of a server. One too many ends the connection that has waited longest without a request of
 * its own: the slots of silent clients go to those who ask. Where every connection has a request, the new one is ended.
 */
export function limitConnections(server: Server, most: number): void {
  const open = new Set<Socket>();
  /** Those without a request in progress, the longest first. */
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
