import { expect, test } from "vitest";
import { FrameReader, frame } from "../../../lib/rewards/python/frames.ts";

const MESSAGES = [{ a: 1 }, { text: "é\u{1f600}".repeat(40) }, {}, { values: [null, 0.1] }];

test("a frame is its length in big-endian bytes and JSON in UTF-8", () => {
  expect([...frame({ é: 1 })]).toEqual([0, 0, 0, 8, ...Buffer.from('{"é":1}', "utf8")]);
});

test.each([1, 3, 7, 64, 10_000])("messages come whole from chunks of %i bytes", (size) => {
  const bytes = Buffer.concat(MESSAGES.map(frame));
  const reader = new FrameReader();
  const read: unknown[] = [];
  for (let at = 0; at < bytes.length; at += size) read.push(...reader.push(bytes.subarray(at, at + size)));
  expect(read).toEqual(MESSAGES);
});

test("what is no frame is refused, and named", () => {
  expect(() => new FrameReader().push(Buffer.from("hello"))).toThrow("it begins with the length 1751477356");
  expect(() => new FrameReader().push(Buffer.from("\0\0\0\x02{]"))).toThrow(
    /HONE_ERR_FORMAT|not a reply: "\{\]"/,
  );
});
