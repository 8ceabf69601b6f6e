import { expect, test } from "vitest";
import { readAddress, withoutPassword } from "../../../lib/streams/redis/address.ts";

test("an address says where, with what and how", () => {
  expect(readAddress("redis://example.org", {})).toEqual({
    host: "example.org",
    port: 6379,
    db: 0,
    mustKeep: true,
  });
  expect(readAddress("rediss://me:p%40ss@[::1]:7000/3?appendonly=no", {})).toEqual({
    host: "::1",
    port: 7000,
    db: 3,
    username: "me",
    password: "p@ss",
    tls: {},
    mustKeep: false,
  });
  expect(readAddress("rediss://h", {}).tls).toEqual({ servername: "h" });
  expect(readAddress("redis://h", { HONE_REDIS_PASSWORD: "x" }).password).toBe("x");
  expect(readAddress("redis://:y@h", { HONE_REDIS_PASSWORD: "x" }).password).toBe("y");
});

test.each([
  "redis://",
  "redis://h/a",
  "redis://h?appendonly=yes",
  "redis://h?x=1",
  "http://h",
  "redis://:pw@h/x",
])("%s is none", (url) => {
  expect(() => readAddress(url, {})).toThrow(
    expect.objectContaining({ code: "HONE_ERR_USAGE", message: expect.not.stringContaining("pw") }),
  );
});

test("a file that is named for a secret has to be there", () => {
  expect(() => readAddress("redis://h", { HONE_REDIS_PASSWORD_FILE: "nowhere/secret" })).toThrow(
    expect.objectContaining({ code: "HONE_ERR_IO" }),
  );
  expect(withoutPassword("redis://me:pw@h:1/2")).toBe("redis://me:***@h:1/2");
});
