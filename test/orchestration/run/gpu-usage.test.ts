import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { GpuUsage, parseUsage } from "../../../lib/orchestration/run/gpu-usage.ts";
import { patient } from "../../patience.ts";

test("reads what the tool prints", () => {
  expect(parseUsage("1234, 81559, 97\n")).toEqual({
    usedBytes: 1234 * 2 ** 20,
    totalBytes: 81559 * 2 ** 20,
    busy: 0.97,
  });
  expect(parseUsage("1234, 81559, [N/A]\n")?.busy).toBe(0);
  for (const text of ["", "No devices were found", "[N/A], [N/A], 0"])
    expect(parseUsage(text)).toBeUndefined();
});

test("asks beside the run; without the tool it knows nothing", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-gpu-"));
  const tool = join(dir, "tool");
  writeFileSync(tool, "#!/bin/sh\necho 10, 20, 50\n");
  chmodSync(tool, 0o755);
  const usage = new GpuUsage(tool);
  expect(usage.latest).toBeUndefined();
  await vi.waitFor(() => expect(usage.latest?.busy).toBe(0.5), { timeout: patient(10_000) });
  const none = new GpuUsage(join(dir, "none"));
  none.latest;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(none.latest).toBeUndefined();
  rmSync(dir, { recursive: true });
});
