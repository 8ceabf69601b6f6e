// Deliberate faults (mutants) that these tests detect: opening does not cut a torn member, there is no checksum, a
// torn member counts as damage.
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { MemberLog, readMemberLog } from "../../lib/suites/member-log.ts";
import { scratchFolder } from "./scripted.ts";

function logOf(...appends: readonly (readonly string[])[]): string {
  const path = join(scratchFolder(), "deep/log.gz");
  using log = new MemberLog(path);
  for (const lines of appends) log.append(lines);
  return path;
}

test("what is appended comes back, in one piece to gunzip and in lines to us", () => {
  const path = logOf(["ä", "b"], [], ["c"]);
  expect(gunzipSync(readFileSync(path)).toString()).toBe("ä\nb\nc\n");
  expect([...readMemberLog(path)]).toEqual(["ä", "b", "c"]);
  using again = new MemberLog(path);
  expect([...again.lines()]).toEqual(["ä", "b", "c"]);
  again.append(["d"]);
  expect([...again.lines()].at(-1)).toBe("d");
});

test("cut anywhere, the whole members stay, and what is appended then is found", () => {
  const path = logOf(["one", "two"]);
  const first = statSync(path).size;
  {
    using log = new MemberLog(path);
    log.append(["three"]);
  }
  const bytes = readFileSync(path);
  for (let size = 0; size <= bytes.length; size++) {
    writeFileSync(path, bytes.subarray(0, size));
    const whole = size < first ? [] : size < bytes.length ? ["one", "two"] : ["one", "two", "three"];
    expect([...readMemberLog(path)], String(size)).toEqual(whole);
    using log = new MemberLog(path);
    log.append(["after"]);
    expect([...log.lines()], String(size)).toEqual([...whole, "after"]);
  }
});

test("a damaged member is an error with its place, not a hole", () => {
  const path = logOf(["one"], ["two"]);
  const bytes = readFileSync(path);
  const at = bytes.length - 20;
  bytes[at] = bytes[at]! ^ 0xff;
  writeFileSync(path, bytes);
  const damaged = expect.objectContaining({
    code: "HONE_ERR_FORMAT",
    message: expect.stringMatching(/damaged at byte \d+/),
  });
  expect(() => [...readMemberLog(path)]).toThrow(damaged as Error);
  writeFileSync(path, "something else that is long enough");
  expect(() => new MemberLog(path)).toThrow(damaged as Error);
});

test("closed it takes nothing, and a path that cannot be is told", () => {
  const path = logOf(["one"]);
  const log = new MemberLog(path);
  log[Symbol.dispose]();
  log[Symbol.dispose]();
  expect(() => log.append(["x"])).toThrow(expect.objectContaining({ code: "HONE_ERR_STATE" }) as Error);
  expect(() => new MemberLog(join(path, "below"))).toThrow(
    expect.objectContaining({ code: "HONE_ERR_IO" }) as Error,
  );
  expect(() => [...readMemberLog(`${path}.none`)]).toThrow(
    expect.objectContaining({ code: "HONE_ERR_IO" }) as Error,
  );
  appendFileSync(path, Buffer.alloc(7));
  truncateSync(path, statSync(path).size);
  expect(() => [...readMemberLog(path)]).not.toThrow(); // too short for a member, so it counts as torn
});
