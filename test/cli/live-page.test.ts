import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startLivePage } from "../../lib/cli/live-page.ts";
import { HONE } from "../fixtures/command-line.ts";

const command = [process.execPath, ...HONE];

test("a page of its own process is there before the run, and gone after it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-live-page-"));
  {
    using page = await startLivePage(join(dir, "run"), { command });
    const { searchParams, origin } = new URL(page.url!);
    const headers = { "x-hone-token": searchParams.get("token")! };
    const look = async () =>
      (await (await fetch(`${origin}/api/overview`, { headers })).json()) as {
        runs: { name: string; rows: number }[];
      };
    expect((await look()).runs).toMatchObject([{ name: "run", rows: 0 }]);
    writeFileSync(join(dir, "run", "steps.jsonl"), '{"step":1,"version":1,"metrics":{"a":1}}\n');
    await vi.waitFor(async () => expect((await look()).runs).toMatchObject([{ rows: 1 }]), {
      timeout: 60_000,
    });
    page[Symbol.dispose]();
    await vi.waitFor(() => expect(fetch(origin)).rejects.toThrow(), { timeout: 60_000 });
  }
  rmSync(dir, { recursive: true });
});

test("an ended run's page is served while a browser has it open, and given up for a resumed one", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-live-page-"));
  const page = await startLivePage(join(dir, "run"), { command });
  const url = new URL(page.url!);
  const open = async ({ origin, searchParams }: URL) => {
    const abort = new AbortController();
    await fetch(`${origin}/api/events?token=${searchParams.get("token")}`, { signal: abort.signal });
    return abort;
  };
  const closed = async () =>
    await vi.waitFor(() => expect(fetch(url.origin)).rejects.toThrow(), { timeout: 60_000 });
  const first = await open(url);
  page[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect((await fetch(url.origin)).status).toBe(200);
  using again = await startLivePage(join(dir, "run"), { command });
  expect(again.url).toBe(url.href);
  first.abort();
  const second = await open(url);
  again[Symbol.dispose]();
  second.abort();
  await closed();
  rmSync(dir, { recursive: true });
});

test("the page's process, which may outlive the run, does not hold the run's stderr open", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-live-page-"));
  using page = await startLivePage(join(dir, "run"), { command });
  expect(page.url).toBeDefined();
  const isPage = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${join(dir, "run")}\0--coming`);
    } catch {
      return false; // the process has ended
    }
  };
  const [pid] = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isPage(name));
  expect(readlinkSync(`/proc/${pid}/fd/2`)).not.toBe(readlinkSync("/proc/self/fd/2"));
  rmSync(dir, { recursive: true });
});

test("a port that is no port leaves the run without a page", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-live-page-"));
  using page = await startLivePage(dir, { command, port: "http" });
  expect(page.url).toBeUndefined();
  rmSync(dir, { recursive: true });
});
