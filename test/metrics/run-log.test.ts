import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { RunLog, readRunLog } from "../../lib/metrics/run-log.ts";
import { scriptOn } from "../fixtures/child-program.ts";
import { patient } from "../patience.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-run-log-"));
  path = join(folder, "run", "steps.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const record = (step: number, value = step / 3) => ({
  step,
  version: step,
  metrics: { "reward/mean": value },
});

function write(...steps: readonly number[]): void {
  const log = new RunLog(path);
  for (const step of steps) log.write(record(step));
  log.close();
}

const errorOf = (work: () => unknown): HoneError => {
  try {
    work();
  } catch (error) {
    if (error instanceof HoneError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
};

describe("writing and reading", () => {
  test("gives back every bit", () => {
    const log = new RunLog(path);
    const values = [0.1 + 0.2, -0, 1e-300, 2 ** 53 - 1, Math.PI];
    values.forEach((value, i) => {
      log.write(record(i + 1, value));
    });
    log.close();
    expect(readRunLog(path).map((r) => r.metrics["reward/mean"])).toEqual(
      values.map((v) => (v === 0 ? 0 : v)),
    );
  });

  test("a step is on disk when write returns", () => {
    const log = new RunLog(path);
    log.write(record(1));
    expect(readRunLog(path)).toEqual([record(1)]);
    log.close();
  });

  test("opening again appends", () => {
    write(1, 2);
    write(3);
    expect(readRunLog(path).map((r) => r.step)).toEqual([1, 2, 3]);
  });

  test("a resumed run replaces the steps it takes again, and what lay beyond them", () => {
    write(1, 2, 3, 4, 5);
    write(3, 4);
    expect(readRunLog(path).map((r) => r.step)).toEqual([1, 2, 3, 4]);
  });
});

describe("after a crash", () => {
  test("a torn last line is left out by the reader and cut off by the next writer", () => {
    write(1, 2);
    appendFileSync(path, '{"step":3,"version":3,"metr');
    expect(readRunLog(path).map((r) => r.step)).toEqual([1, 2]);
    write(3);
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(4);
    expect(readRunLog(path).map((r) => r.step)).toEqual([1, 2, 3]);
  });

  test("a torn line longer than a block, and one that is all there is", () => {
    write(1);
    appendFileSync(path, "x".repeat(10_000));
    write(2);
    expect(readRunLog(path).map((r) => r.step)).toEqual([1, 2]);
    writeFileSync(path, "y".repeat(5000));
    write(1);
    expect(readRunLog(path).map((r) => r.step)).toEqual([1]);
  });

  test("a process killed with SIGKILL loses no step it has spoken of", {
    timeout: patient(30_000),
  }, async () => {
    const { node, url } = await scriptOn("metrics/run-log.ts");
    const script = `
      import { RunLog } from ${JSON.stringify(url)};
      const log = new RunLog(${JSON.stringify(path)});
      for (let step = 1; ; ++step) {
        log.write({ step, version: step, metrics: { value: step } });
        if (!process.stdout.write(step + "\\n")) await new Promise((go) => process.stdout.once("drain", go));
      }`;
    const child = spawn(process.execPath, [...node, "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let spoken = "";
    for await (const chunk of child.stdout) {
      spoken += String(chunk);
      if (spoken.length > 20_000) break;
    }
    const ended = new Promise((done) => child.once("close", done));
    child.kill("SIGKILL");
    await ended;
    const last = Number(spoken.slice(0, spoken.lastIndexOf("\n")).split("\n").at(-1));
    const records = readRunLog(path);
    expect(records.length).toBeGreaterThanOrEqual(last);
    expect(records.every((r, i) => r.step === i + 1 && r.metrics["value"] === i + 1)).toBe(true);
  });
});

describe("errors", () => {
  test("a damaged line in the middle is named", () => {
    write(1);
    appendFileSync(path, "not json\n");
    write(2);
    const error = errorOf(() => readRunLog(path));
    expect(error.code).toBe("HONE_ERR_FORMAT");
    expect(error.message).toContain("steps.jsonl:2");
  });

  test.each(['{"step":"1","metrics":{}}', "[]", "null", '{"step":1}'])("%s is no step record", (line) => {
    write(1);
    appendFileSync(path, `${line}\n`);
    expect(errorOf(() => readRunLog(path)).code).toBe("HONE_ERR_FORMAT");
  });

  test("no file, no folder, a full disk", () => {
    expect(errorOf(() => readRunLog(path)).code).toBe("HONE_ERR_IO");
    writeFileSync(join(folder, "run"), "a file where the folder should be");
    expect(errorOf(() => new RunLog(path)).code).toBe("HONE_ERR_IO");
  });

  test.skipIf(process.platform !== "linux")("a full disk is told by the step that no longer fits", () => {
    const full = new RunLog("/dev/full");
    const error = errorOf(() => full.write(record(1)));
    full.close();
    expect([error.code, error.message]).toEqual(["HONE_ERR_IO", expect.stringContaining("ENOSPC")]);
  });

  test("writing after close is our own mistake", () => {
    const log = new RunLog(path);
    log.close();
    log.close();
    expect(errorOf(() => log.write(record(9))).code).toBe("HONE_ERR_STATE");
  });
});
