import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { hostname } from "node:os";

/** 128 random bits as hex, for the page's address. */
export const newToken = (): string => randomBytes(16).toString("hex");

/** True if two texts are equal, in a time that reveals neither where they differ nor the secret's length. */
export function sameSecret(given: string | null | undefined, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given ?? ""), digest(secret)) && given !== null && given !== undefined;
}

/**
 * True if a request's Host header names this machine by address or by one of its names. A malicious page
 * whose name resolves to 127.0.0.1 (DNS rebinding) sends that name.
 * @param also a further name at which the server listens
 */
export function isOwnHost(header: string | undefined, also?: string): boolean {
  const name = hostOf(header);
  if (name === undefined) return false;
  return isIP(name) !== 0 || [`localhost`, hostname().toLowerCase(), also?.toLowerCase()].includes(name);
}

/** True if a request that changes something comes from a page of this server, or from no page at all. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  return origin === undefined || origin === `http://${host}`;
}

/** Host without port and brackets, in lower case. */
function hostOf(header: string | undefined): string | undefined {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^\s:/?#@[\]]+))(?::\d{1,5})?$/i.exec(header ?? "");
  return (parts?.[1] ?? parts?.[2])?.toLowerCase();
}
