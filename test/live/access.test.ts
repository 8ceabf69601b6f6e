import { hostname } from "node:os";
import { expect, test } from "vitest";
import { isOwnHost, isOwnOrigin, newToken, sameSecret } from "../../lib/live/access.ts";

test("a token is 128 bits of hex, and never the same", () => {
  const tokens = Array.from({ length: 50 }, newToken);
  for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(tokens).size).toBe(50);
});

test("only the very token is the token", () => {
  const token = newToken();
  expect(sameSecret(token, token)).toBe(true);
  for (const other of [undefined, null, "", token.slice(1), `${token} `, `x${token}`])
    expect(sameSecret(other, token)).toBe(false);
  expect(sameSecret(undefined, "")).toBe(false);
});

test.each([
  ["127.0.0.1:8080", true],
  ["localhost:1", true],
  ["LOCALHOST", true],
  ["[::1]:8080", true],
  ["192.168.1.7:80", true],
  [`${hostname()}:8080`, true],
  ["gpu-7:8080", true],
  ["evil.example:8080", false],
  ["127.0.0.1.evil.example", false],
  ["localhost.evil.example:80", false],
  ["user@127.0.0.1", false],
  ["127.0.0.1/x", false],
  ["", false],
  [undefined, false],
])("Host %s is ours: %s", (header, own) => {
  expect(isOwnHost(header, "gpu-7")).toBe(own);
});

test("a page of another origin is told apart; a program sends none", () => {
  expect(isOwnOrigin(undefined, "127.0.0.1:8080")).toBe(true);
  expect(isOwnOrigin("http://127.0.0.1:8080", "127.0.0.1:8080")).toBe(true);
  expect(isOwnOrigin("http://evil.example", "127.0.0.1:8080")).toBe(false);
  expect(isOwnOrigin("null", "127.0.0.1:8080")).toBe(false);
});
