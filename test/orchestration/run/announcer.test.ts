import { expect, test } from "vitest";
import { Announcer } from "../../../lib/orchestration/run/announcer.ts";

test("tells each listener until it stops listening, in order", () => {
  const told: string[] = [];
  const announcer = new Announcer();
  const stop = announcer.on("warning", (message) => told.push(`one ${message}`));
  announcer.on("warning", (message) => told.push(`two ${message}`));
  announcer.emit("warning", "a");
  stop();
  announcer.emit("warning", "b");
  expect(told).toEqual(["one a", "two a", "two b"]);
  expect([announcer.hears("warning"), announcer.hears("group")]).toEqual([true, false]);
});

test("what listeners throw becomes a warning once an event, also where those of warnings throw", () => {
  const told: string[] = [];
  const announcer = new Announcer();
  announcer.on("checkpoint", () => {
    throw new Error("first");
  });
  announcer.on("checkpoint", (path) => told.push(path));
  announcer.on("warning", (message) => told.push(message));
  announcer.on("warning", () => {
    throw new Error("second");
  });
  announcer.emit("checkpoint", "x", 1);
  announcer.emit("checkpoint", "y", 2);
  const failed = (event: string, error: string) =>
    `a listener of "${event}" failed, and the run continues: Error: ${error}`;
  expect(told).toEqual([failed("checkpoint", "first"), failed("warning", "second"), "x", "y"]);
});

test("warnings from before anyone listens are told to the first listener, once and before later ones", async () => {
  const told: string[] = [];
  const announcer = new Announcer();
  announcer.emit("warning", "early");
  announcer.on("warning", (message) => told.push(message));
  announcer.emit("warning", "late");
  announcer.on("warning", (message) => told.push(`second ${message}`));
  await Promise.resolve();
  expect(told).toEqual(["early", "late"]);
  const alone = new Announcer();
  alone.emit("warning", "early");
  alone.on("warning", (message) => told.push(message));
  expect(told).toHaveLength(2);
  await Promise.resolve();
  expect(told.at(-1)).toBe("early");
});
