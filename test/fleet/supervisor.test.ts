import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HoneError } from "../../lib/errors.ts";
import { Supervisor } from "../../lib/fleet/supervisor.ts";
import { deferred } from "../../lib/shared/async/deferred.ts";
import { until } from "./small-engine.ts";

let logs: string;
beforeEach(() => {
  logs = mkdtempSync(join(tmpdir(), "hone-supervisor-"));
});
afterEach(() => rmSync(logs, { recursive: true, force: true }));

const place = (store: string) => ({ role: "actor", rank: 3, worldSize: 4, runId: "run-1", store }) as const;

test("a place whose process can never work is given up at once, with the tail of its log", async () => {
  const failures: HoneError[] = [];
  const onFailure = (error: HoneError) => void failures.push(error);
  await using supervisor = new Supervisor({ logs, threads: 1, onVacant: async () => 1, onFailure });
  await supervisor.start(place("carrier-pigeon:7"));
  await until(() => failures.length > 0, "the end of the process");
  expect(failures[0]).toMatchObject({ code: "HONE_ERR_STATE", hint: expect.stringContaining("actor-3.log") });
  expect(failures[0]!.message).toMatch(/actor 3 ended 1 time\(s\).*carrier-pigeon:7 is not an address/s);
  const ended = { how: "with exit code 78", words: expect.stringContaining("carrier-pigeon:7") };
  expect(supervisor.statuses).toMatchObject([{ role: "actor", rank: 3, epoch: 1, pid: undefined, ended }]);
});

test("a process that ends is started again in a later epoch; after the end nothing is", async () => {
  let epoch = 0;
  const supervisor = new Supervisor({ logs, threads: 1, onVacant: async () => ++epoch, onFailure: () => {} });
  await supervisor.start(place("memory:"));
  await until(() => supervisor.statuses[0]!.restarts > 0 && epoch === 2, "another process");
  const isKilled = () => {
    supervisor.kill("actor", 3); // kills the next process if this one has already ended by itself
    return supervisor.statuses[0]!.ended?.how === "by SIGKILL";
  };
  await until(isKilled, "the end of one that runs");
  // the process before it ended with this error
  expect(supervisor.statuses[0]!.ended!.words).not.toContain("HONE_ERR_STREAM");
  await supervisor[Symbol.asyncDispose]();
  const last = epoch;
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(epoch).toBe(last);
  expect(readFileSync(join(logs, "actor-3.log"), "utf8")).toMatch(/HONE_ERR_STREAM/);
});

test("places that are filled together are left and filled again together", async () => {
  const begun: (readonly number[])[] = [];
  const onVacant = async (places: readonly { rank: number }[]) => begun.push(places.map(({ rank }) => rank));
  await using supervisor = new Supervisor({ logs, threads: 1, onVacant, onFailure: () => {} });
  const two = [0, 1].map((rank) => ({ ...place("memory:"), role: "trainer" as const, rank, worldSize: 2 }));
  await supervisor.start(...two);
  const before = supervisor.statuses.map(({ pid }) => pid);
  supervisor.kill("trainer", 1);
  await until(() => supervisor.statuses[0]!.restarts === 1 && begun.length === 2, "both to be started again");
  await until(() => supervisor.statuses.every(({ pid }) => pid !== undefined), "their processes");
  expect(begun).toEqual([
    [0, 1],
    [0, 1],
  ]);
  expect(supervisor.statuses).toMatchObject([{ epoch: 2 }, { epoch: 2 }]);
  for (const { pid } of supervisor.statuses) expect(before).not.toContain(pid);
});

test("a place is vacant as soon as its process has ended, however long the next one lets wait; how it ended is told", async () => {
  const told: unknown[] = [];
  const onVacant = async (_: unknown, last: unknown) => told.push(last);
  await using supervisor = new Supervisor({ logs, threads: 1, onVacant, onFailure: () => {} });
  await supervisor.start(place("memory:"));
  const isThere = () => supervisor.statuses[0]!.pid !== undefined;
  supervisor.kill("actor", 3, "SIGSTOP");
  supervisor.kill("actor", 3);
  await until(() => told.length === 2, "its end");
  expect(isThere(), "a pause comes first").toBe(false);
  await until(isThere, "the next one");
  expect(supervisor.endHung("actor", 3)).toBe(true);
  await until(() => told.length === 3, "its end");
  await until(() => told.length === 4, "one that ends by itself, since its store knows no run");
  expect(told).toEqual([undefined, "killed", "failed", "failed"]);
});

test("what goes wrong with a place that nobody needs any more is nobody's", async () => {
  const vacated = deferred<number>();
  const vacations = [Promise.resolve(1), vacated.promise];
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const onVacant = () => vacations.shift()!;
  const supervisor = new Supervisor({ logs, threads: 1, onVacant, onFailure });
  await supervisor.start(place("memory:"));
  supervisor.kill("actor", 3);
  await until(() => vacations.length === 0, "its end");
  await supervisor[Symbol.asyncDispose]();
  vacated.reject(new Error("the stream store is closed"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toEqual([]);
});
