import { expect, test } from "vitest";
import { faultOf } from "../../../lib/rewards/pool/verifier-fault.ts";

// Deliberate faults (mutants) that these tests detect: causes are left out, frames of the package or of dependencies
// count as the user's, the length is unbounded.

const HERE = import.meta.url;

function thrownHere(error: Error): Error {
  return error;
}

test("a message, and where in the user's own file it was", () => {
  const error = thrownHere(new Error("my bug"));
  expect(faultOf(error, HERE)).toMatch(/^my bug \(\/.*verifier-fault\.test\.ts:\d+:\d+\)$/);
  expect(faultOf(error)).toBe("my bug");
  expect(faultOf(thrownHere(new Error("x".repeat(1e6))), HERE)).toMatch(
    /^x{500} \(\/.*verifier-fault\.test\.ts/,
  );
});

test("the first frame that is theirs, not what they called", () => {
  const error = new Error("deep");
  error.stack = [
    "Error: deep",
    "    at inner (file:///srv/me/node_modules/library/index.js:3:1)",
    "    at node:internal/process:1:1",
    "    at Object.verify (file:///srv/me/mine.js:12:9)",
    "    at judge (file:///opt/hone/dist/judging.js:1:1)",
  ].join("\n");
  expect(faultOf(error, "file:///srv/me/verifiers.js")).toBe("deep (verify, /srv/me/mine.js:12:9)");
  expect(faultOf(error, "file:///elsewhere/verifiers.js")).toBe("deep");
});

test("causes are said, once, and kinds of errors", () => {
  const refused = new Error("connect ECONNREFUSED 127.0.0.1:80");
  const failed = new TypeError("fetch failed", { cause: refused });
  expect(faultOf(failed)).toBe("TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:80");
  expect(faultOf(new Error("a", { cause: new Error("a") }))).toBe("a");
  expect(faultOf(new Error("b", { cause: new AggregateError([refused]) }))).toContain("ECONNREFUSED");
  const loop = new Error("loop");
  loop.cause = loop;
  expect(faultOf(loop)).toBe("loop");
});

test.each<[string, unknown, string]>([
  ["a text", "oops", "oops"],
  ["nothing", undefined, ""],
  ["null", null, ""],
  ["an object", { a: 1 }, "[object Object]"],
  ["an object without a text", Object.create(null), "a thrown object"],
  ["something long", new Error("x".repeat(1e6)), "x".repeat(500)],
])("%s can be thrown", (_, thrown, said) => {
  expect(faultOf(thrown, HERE).replace(/ \(.*/, "")).toBe(said);
});
