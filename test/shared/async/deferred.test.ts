import { expect, test } from "vitest";
import { deferred } from "../../../lib/shared/async/deferred.ts";

test("settles from outside, either way, once", async () => {
  const good = deferred<number>();
  good.resolve(3);
  good.reject(new Error("too late"));
  expect(await good.promise).toBe(3);
  const bad = deferred<number>();
  bad.reject(new Error("no"));
  await expect(bad.promise).rejects.toThrow("no");
});
