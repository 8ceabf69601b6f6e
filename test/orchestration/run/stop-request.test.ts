import { expect, test } from "vitest";
import { StopRequest } from "../../../lib/orchestration/run/stop-request.ts";

test("a run that nobody stops is done, and saves", () => {
  const { signal, end, save } = new StopRequest();
  expect([signal.aborted, end, save]).toEqual([false, "done", true]);
});

test("the first request counts", () => {
  const stop = new StopRequest();
  stop.request("stopped", { save: false });
  stop.request("aborted", { save: true });
  expect([stop.signal.aborted, stop.end, stop.save]).toEqual([true, "stopped", false]);
});
