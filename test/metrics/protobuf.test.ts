import { expect, test } from "vitest";
import { Message } from "../../lib/metrics/protobuf.ts";

const hex = (message: Message) => message.finish().toString("hex");

// the first two come from the examples of the Protocol Buffers page "Encoding"
test.each([
  ["a varint of two bytes", new Message().int(1, 150), "089601"],
  ["text", new Message().bytes(2, "testing"), "120774657374696e67"],
  ["a message in a message", new Message().message(3, new Message().int(1, 150)), "1a03089601"],
  ["a negative int64, in ten bytes", new Message().int(1, -1), "08ffffffffffffffffff01"],
  ["a field above 15", new Message().int(17, 1), "880101"],
  ["a double", new Message().double(1, 1), "09000000000000f03f"],
  ["a float", new Message().float(1, 1), "0d0000803f"],
  ["packed doubles", new Message().doubles(6, [1, -2]), "3210000000000000f03f00000000000000c0"],
  ["no doubles", new Message().doubles(6, []), "3200"],
])("%s", (_, message, expected) => {
  expect(hex(message)).toBe(expected);
});

test("a message grows beyond its first room, whatever is written last, and a size may take several bytes", () => {
  const word = "tensor — ".repeat(40); // the dash takes three bytes
  const inner = new Message().bytes(1, word).int(2, 2 ** 40);
  const bytes = Buffer.from(word);
  expect(hex(inner)).toBe(`0ab803${bytes.toString("hex")}10808080808020`);
  expect(bytes.length).toBe(0x38 + 3 * 128);
  expect(new Message().message(3, inner).finish().length).toBe(inner.finish().length + 3);
});
