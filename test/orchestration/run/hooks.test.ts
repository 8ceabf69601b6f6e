import { expect, test, vi } from "vitest";
import { callHook } from "../../../lib/orchestration/run/hooks.ts";
import { Lifecycle } from "../../../lib/orchestration/run/lifecycle.ts";
import { Publisher } from "../../../lib/orchestration/run/publisher.ts";
import type { RunOptions } from "../../../lib/orchestration/run/run-interface.ts";
import { StopRequest } from "../../../lib/orchestration/run/stop-request.ts";

const open = (hooks: RunOptions["hooks"] = {}) => {
  const context = { stop: new StopRequest(), options: { dir: "", hooks }, publisher: new Publisher([]) };
  return { context, life: new Lifecycle<never>() };
};

test("while a hook runs the run is in it, and what it returns is the run's", async () => {
  const { context, life } = open();
  expect(await callHook(context, life, "afterStep", () => life.stage.at)).toBe("hook");
  expect(life.stage.at).toBe("preparing");
});

test("a run that was told to stop does not begin with a hook", async () => {
  const { context, life } = open();
  context.stop.request("stopped", { save: true });
  const call = vi.fn();
  await callHook(context, life, "beforeTraining", call);
  expect(call).not.toHaveBeenCalled();
  await callHook(context, life, "afterStep", call);
  expect(call).toHaveBeenCalledOnce();
});

test("a hook that hangs after the stop is left behind with a warning", async () => {
  const { context, life } = open();
  const warnings: string[] = [];
  context.publisher.listeners.on("warning", (message) => warnings.push(message));
  context.stop.request("stopped", { save: true });
  expect(await callHook(context, life, "afterStep", () => new Promise(() => {}))).toBeUndefined();
  expect(warnings).toEqual(["hook afterStep has not returned 2 s after the stop: abandoned"]);
  expect(life.stage.at).toBe("preparing");
});
