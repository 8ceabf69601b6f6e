import { expect, test } from "vitest";
import { Notifier } from "../../lib/streams/notifier.ts";

const NEVER_MS = 2 ** 30;

test("who waits for a topic is woken by it, and by what concerns all", async () => {
  const notifier = new Notifier();
  const woken: string[] = [];
  const wait = async (topic: string, name: string) => {
    await notifier.wait(topic, notifier.count(topic), NEVER_MS);
    woken.push(name);
  };
  const waits = [wait("a", "a1"), wait("a", "a2"), wait("b", "b1")];
  notifier.ring("c");
  notifier.ring("a");
  await Promise.all(waits.slice(0, 2));
  expect(woken).toEqual(["a1", "a2"]);
  notifier.ring(undefined);
  await Promise.all(waits);
  expect(woken).toEqual(["a1", "a2", "b1"]);
});

test("news between the look and the waiting are not missed", async () => {
  const notifier = new Notifier();
  const seen = notifier.count("a");
  notifier.ring("a");
  await notifier.wait("a", seen, NEVER_MS);
  const later = notifier.count("a");
  notifier.ring(undefined);
  await notifier.wait("a", later, NEVER_MS);
  expect(notifier.count("a")).toBe(2);
});

test("a wait ends by itself, and by its signal", async () => {
  const notifier = new Notifier();
  await notifier.wait("a", 0, 5);
  const off = new AbortController();
  const waiting = notifier.wait("a", 0, NEVER_MS, off.signal);
  off.abort();
  await waiting;
  await notifier.wait("a", 0, NEVER_MS, off.signal);
});
