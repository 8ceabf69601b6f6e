// The pump is a Node script with scripted answers; bubblewrap.test.ts runs real programs.
import { describe, expect, test } from "vitest";
import { Zygote, type ZygoteRun } from "../../lib/sandbox/zygote.ts";

const RUN: ZygoteRun = {
  job: Buffer.from("job"),
  wallMs: 1000,
  cpuSeconds: 2,
  memoryBytes: 2 ** 33 + 5,
  outputBytes: 1000,
  stderrBytes: 500,
};

/** `answer(request, job)` runs for each request; `result(...)` makes a frame. */
const pump = (answer: string) =>
  new Zygote({
    command: process.execPath,
    args: [
      "-e",
      `const fs = require("fs");
let held = Buffer.alloc(0);
const result = (number, why, code, ...texts) => {
  const parts = texts.map((text) => Buffer.from(text));
  const head = Buffer.alloc(29);
  head.writeUInt32LE(number, 0); head.writeUInt8(why, 4); head.writeInt32LE(code, 5);
  head.writeUInt32LE(7500, 9); head.writeUInt32LE(1000, 13);
  parts.forEach((part, i) => head.writeUInt32LE(part.length, 17 + 4 * i));
  return Buffer.concat([head, ...parts]);
};
const send = (bytes) => fs.writeSync(1, bytes);
const answer = (number, request, job) => { ${answer} };
process.stdin.on("data", (chunk) => {
  held = Buffer.concat([held, chunk]);
  while (held.length >= 32) {
    const size = held.readUInt32LE(4);
    const off = size === 0xffffffff;
    if (!off && held.length < 32 + size) return;
    const [request, job] = [held.subarray(0, 32), off ? "off" : held.subarray(32, 32 + size).toString()];
    held = held.subarray(32 + (off ? 0 : size));
    answer(request.readUInt32LE(0), request, job);
  }
});`,
    ],
  });

const texts = ({ written }: { written: ReadonlyMap<number, Buffer> }) =>
  [1, 2, 3].map((fd) => written.get(fd)?.toString());

test("a request carries its limits, a result what was written", async () => {
  const zygote = pump(
    "send(result(number, 0, 3 << 8, [8, 12, 24, 28].map((at) => request.readUInt32LE(at)).join(), String(request.readBigUInt64LE(16)), job))",
  );
  const end = await zygote.run(RUN);
  expect([end.end, end.status, end.spentMs]).toEqual(["exited", 3, 7.5]);
  expect(texts(end)).toEqual(["1000,2,1000,500", String(2 ** 33 + 5), "job"]);
  expect((await zygote.run({ ...RUN, job: Buffer.from("other") })).written.get(3)!.toString()).toBe("other");
});

test("results may come in pieces, and in another order", async () => {
  const zygote = pump(
    `if (number === 0) return; const both = Buffer.concat([result(1, 1, 9, "b", "", ""), result(0, 2, 9, "a", "", "")]);
     let at = 0; const next = () => { if (at < both.length) { send(both.subarray(at, at + 7)); at += 7; setTimeout(next, 1); } }; next();`,
  );
  const [one, two] = await Promise.all([zygote.run(RUN), zygote.run(RUN)]);
  expect([one.end, one.status, texts(one)[0]]).toEqual(["too-much-output", 137, "a"]);
  expect([two.end, two.status, texts(two)[0]]).toEqual(["too-slow", 137, "b"]);
});

describe("what is lost", () => {
  test.each([
    ["the program's process, killed from outside", "send(result(number, 3, 9, '', '', ''))", "killed", true],
    ["the pump, without a word", "process.exit(1)", "Python was not reached", false],
    ["the pump, with one", "fs.writeSync(2, 'no namespaces\\n'); process.exit(1)", "no namespaces", false],
  ])("%s, rejects", async (_, answer, message, alive) => {
    const zygote = pump(answer);
    await expect(zygote.run(RUN)).rejects.toThrow(message);
    expect(zygote.isAlive).toBe(alive);
  });

  test("a command that is not there, too, and every run after it", async () => {
    const zygote = new Zygote({ command: "no-such-command", args: [] });
    await expect(zygote.run(RUN)).rejects.toThrow("ENOENT");
    await expect(zygote.run(RUN)).rejects.toThrow("ENOENT");
  });
});

test("a run that is called off ends at once, and the pump is told", async () => {
  const zygote = pump("if (job === 'off') send(result(number + 1, 0, 0, 'told', '', ''))");
  const controller = new AbortController();
  const first = zygote.run({ ...RUN, signal: controller.signal });
  const second = zygote.run(RUN);
  controller.abort();
  expect((await first).end).toBe("aborted");
  expect(texts(await second)[0]).toBe("told");
  expect((await zygote.run({ ...RUN, signal: AbortSignal.abort() })).end).toBe("aborted");
});
