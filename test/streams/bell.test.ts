import { expect, test } from "vitest";
import { Bell } from "../../lib/streams/bell.ts";

const NEVER_MS = 2 ** 30;

test("who waits for a topic is woken by it, and by what concerns all", async () => {
  const bell = new Bell();
  const woken: string[] = [];
  const wait = async (topic: string, name: string) => {
    await bell.wait(topic, bell.count(topic), NEVER_MS);
    woken.push(name);
  };
  const waits = [wait("a", "a1"), wait("a", "a2"), wait("b", "b1")];
  bell.ring("c");
  bell.ring("a");
  await Promise.all(waits.slice(0, 2));
  expect(woken).toEqual(["a1", "a2"]);
  bell.ring(undefined);
  await Promise.all(waits);
  expect(woken).toEqual(["a1", "a2", "b1"]);
});

test("news between the look and the waiting are not missed", async () => {
  const bell = new Bell();
  const seen = bell.count("a");
  bell.ring("a");
  await bell.wait("a", seen, NEVER_MS);
  const later = bell.count("a");
  bell.ring(undefined);
  await bell.wait("a", later, NEVER_MS);
  expect(bell.count("a")).toBe(2);
});

test("a wait ends by itself, and by its signal", async () => {
  const bell = new Bell();
  await bell.wait("a", 0, 5);
  const off = new AbortController();
  const waiting = bell.wait("a", 0, NEVER_MS, off.signal);
  off.abort();
  await waiting;
  await bell.wait("a", 0, NEVER_MS, off.signal);
});
