import { expect, test } from "vitest";
import { readAddress, socketUrl, withoutPassword } from "../../../lib/streams/redis/address.ts";

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
  expect(readAddress("rediss://h", {})).toMatchObject({ tls: { servername: "h" } });
  expect(readAddress("redis://h", { HONE_REDIS_PASSWORD: "x" })).toMatchObject({ password: "x" });
  expect(readAddress("redis://:y@h", { HONE_REDIS_PASSWORD: "x" })).toMatchObject({ password: "y" });
});

test("a Unix socket has a path and no password", () => {
  const env = { HONE_REDIS_PASSWORD: "x", HONE_REDIS_PASSWORD_FILE: "nowhere/secret" };
  expect(readAddress("redis+unix:///run/a/redis.sock", env)).toEqual({
    path: "/run/a/redis.sock",
    mustKeep: true,
  });
  expect(readAddress("redis+unix:///s?appendonly=no", env)).toEqual({ path: "/s", mustKeep: false });
  for (const path of ["/run/a b/é?#%41.sock", "/s"])
    expect(readAddress(socketUrl(path), env)).toEqual({ path, mustKeep: true });
});

test("a Unix socket's path has 107 bytes at most, as sun_path of Linux less its zero byte", () => {
  const path = `/${"é".repeat(53)}`;
  expect(readAddress(socketUrl(path), {})).toMatchObject({ path });
  const refused = expect.objectContaining({
    code: "HONE_ERR_USAGE",
    message: expect.stringContaining("108 bytes"),
    hint: expect.stringContaining("TMPDIR"),
  });
  expect(() => socketUrl(`${path}x`)).toThrow(refused);
  expect(() => readAddress(`redis+unix://${path}x`, {})).toThrow(refused);
});

test.each([
  "redis+unix://",
  "redis+unix:///",
  "redis+unix:///run/",
  "redis+unix://host/s",
  "redis+unix:s",
  "redis+unix:///a%00b",
  "redis+unix:///a%zz",
  "redis+unix://:pw@/s",
  "redis+unix:///s?appendonly=yes",
  "redis://%zz@h",
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
