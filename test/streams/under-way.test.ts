import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { UnderWay } from "../../lib/streams/under-way.ts";

const why = new HoneError("HONE_ERR_IO", "the server is gone");
const never = () => new Promise<never>(() => {});

test("a call resolves and rejects as it would alone, one that throws too", async () => {
  const calls = new UnderWay();
  expect(await calls.run(async () => 7)).toBe(7);
  const refused = new Error("refused");
  await expect(calls.run(() => Promise.reject(refused))).rejects.toBe(refused);
  const thrown = calls.run(() => {
    throw refused;
  });
  await expect(thrown).rejects.toBe(refused);
});

test("calls under way, and later ones, reject with the first reason", async () => {
  const calls = new UnderWay();
  const waiting = [calls.run(never), calls.run(never)].map((call) => call.catch((error) => error));
  calls.abandon(why);
  calls.abandon(new HoneError("HONE_ERR_STATE", "later"));
  expect(await Promise.all(waiting)).toEqual([why, why]);
  let asked = false;
  const later = calls.run(async () => {
    asked = true;
  });
  await expect(later).rejects.toBe(why);
  expect(asked).toBe(false);
});
