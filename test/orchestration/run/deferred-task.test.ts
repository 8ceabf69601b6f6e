import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { DeferredTask } from "../../../lib/orchestration/run/deferred-task.ts";

function record() {
  const done: string[] = [];
  const later = new DeferredTask();
  return { done, later, defer: (name: string) => later.defer(() => void done.push(name)) };
}

test("deferred work runs once, after everything that awaits a promise", async () => {
  const { done, defer } = record();
  defer("late");
  await Promise.resolve().then(() => done.push("microtask"));
  expect(done).toEqual(["microtask"]);
  await turn();
  await turn();
  await turn();
  expect(done).toEqual(["microtask", "late"]);
});

test("what is started until the next turn, and goes out in it, goes first", async () => {
  const { done, defer } = record();
  defer("late");
  await Promise.resolve(); // the next step starts here
  setImmediate(() => done.push("requests"));
  await turn();
  await turn();
  await turn();
  expect(done).toEqual(["requests", "late"]);
});

test("settle does it now, and the event loop does not do it again", async () => {
  const { done, defer, later } = record();
  defer("one");
  later.flush();
  expect(done).toEqual(["one"]);
  later.flush();
  await turn();
  await turn();
  await turn();
  expect(done).toEqual(["one"]);
});

test("the next piece waits for the one before", async () => {
  const { done, defer } = record();
  defer("one");
  defer("two");
  expect(done).toEqual(["one"]);
  await turn();
  await turn();
  await turn();
  expect(done).toEqual(["one", "two"]);
});

test("what it throws on its own comes out of every settle: the first may be somebody else's", async () => {
  const { later } = record();
  later.defer(() => {
    throw new Error("disk full");
  });
  await turn();
  await turn();
  await turn();
  expect(() => later.flush()).toThrow("disk full");
  expect(() => later.flush()).toThrow("disk full");
});

test("what it throws on its own is not lost when more is deferred", async () => {
  const { later } = record();
  later.defer(() => {
    throw new Error("disk full");
  });
  await turn();
  await turn();
  await turn();
  expect(() => later.defer(() => {})).toThrow("disk full");
});

test("what it throws when settled is thrown there, and for whom it ends", () => {
  const { later } = record();
  later.defer(() => {
    throw new Error("disk full");
  });
  expect(() => later.flush()).toThrow("disk full");
  expect(() => later.defer(() => {})).toThrow("disk full");
});
