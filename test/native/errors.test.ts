import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { awaited, fromNative, translated } from "../../lib/native/errors.ts";

const native = Object.assign(new Error("request 3: the prompt is empty."), { code: "HONE_ERR_CONFIG" });

test("a native error becomes a typed one with itself as the cause", () => {
  const error = fromNative(native) as HoneError;
  expect(error).toBeInstanceOf(HoneError);
  expect([error.code, error.message, error.cause]).toEqual(["HONE_ERR_CONFIG", native.message, native]);
});

test("an error that is typed already passes with its hint: the addon that does not load says what to type", () => {
  const typed = new HoneError("HONE_ERR_NATIVE_LOAD", "cannot load", { hint: "run `npx hone build`" });
  expect(fromNative(typed)).toBe(typed);
  const fail = () => {
    throw typed;
  };
  expect(() => translated(fail)).toThrow(typed);
});

test("an error that is not ours passes as it is", () => {
  const other = new TypeError("x");
  expect(fromNative(other)).toBe(other);
  expect(fromNative("text")).toMatchObject({ code: "HONE_ERR_INTERNAL" });
});

test("what is rethrown carries the stack of the call site", async () => {
  const fail = () => {
    throw native;
  };
  expect(() => translated(fail)).toThrow(HoneError);
  const error = await awaited(() => Promise.reject(native)).catch((e: unknown) => e as HoneError);
  expect(error.stack).toContain("errors.test.ts");
  expect(translated(() => 3)).toBe(3);
  expect(await awaited(() => Promise.resolve(4))).toBe(4);
});
