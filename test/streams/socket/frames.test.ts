import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFrame, FrameReader } from "../../../lib/streams/socket/frames.ts";

const payload = fc.uint8Array({ maxLength: 300 });
const text = fc.string({ unit: "grapheme", maxLength: 20 });
/** Messages with payloads wherever driver.ts allows them. */
const message = fc.oneof(
  fc.tuple(fc.nat(), fc.constant("append"), fc.record({ stream: text, payload })),
  fc.tuple(
    fc.nat(),
    fc.constant("forward"),
    fc.record({ keeps: fc.boolean(), out: fc.record({ key: text, payload }) }),
  ),
  fc.tuple(
    fc.nat(),
    fc.record({ nextMs: fc.nat(), leases: fc.array(fc.record({ key: text, payload }), { maxLength: 4 }) }),
  ),
  fc.tuple(fc.nat(), fc.array(fc.record({ reason: text, payload }), { maxLength: 4 })),
  fc.tuple(fc.nat(), fc.constant("list"), fc.array(fc.tuple(text, text))),
  fc.tuple(fc.nat(), fc.constant(null)),
);

const bytesOf = (messages: readonly unknown[]) => Buffer.concat(messages.flatMap(encodeFrame));

test("messages come out as they went in, however their bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(1500), { maxLength: 6 }),
      (messages, cuts) => {
        const bytes = bytesOf(messages);
        const reader = new FrameReader();
        const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const read = ends.flatMap((end, i) => [...reader.read(bytes.subarray(ends[i - 1] ?? 0, end))]);
        expect(read).toEqual(messages);
      },
    ),
  );
});

test("a payload crosses as its own bytes: a frame of 5 has 5 beside its head", () => {
  const [head, ...payloads] = encodeFrame([1, "append", { payload: Uint8Array.of(1, 2, 3, 4, 5) }]);
  expect(payloads).toEqual([Uint8Array.of(1, 2, 3, 4, 5)]);
  const json = '[1,"append",{"payload":5}]';
  expect(Buffer.from(head!)).toEqual(
    Buffer.concat([Buffer.from([4 + json.length + 5, 0, 0, 0, json.length, 0, 0, 0]), Buffer.from(json)]),
  );
});

const framed = (json: string, ...behind: number[]) => {
  const length = 4 + json.length + behind.length;
  return Buffer.concat([
    Buffer.from([length, 0, 0, 0, json.length, 0, 0, 0]),
    Buffer.from(json),
    Buffer.from(behind),
  ]);
};

test.each([
  ["a length above 1 GiB", Buffer.from([1, 0, 0, 0x40, 0, 0, 0, 0])],
  ["a length without a head's", Buffer.from([3, 0, 0, 0, 0, 0, 0])],
  ["a head that is longer than its frame", Buffer.from([8, 0, 0, 0, 5, 0, 0, 0, 1, 2, 3, 4])],
  ["a head that is no JSON", framed("[1,")],
  ["a payload that is longer than its frame", framed('[1,"append",{"payload":3}]', 1, 2)],
  ["a payload of fewer than no bytes", framed('[1,"append",{"payload":-1}]')],
  ["a payload whose length is a text", framed('[1,"append",{"payload":"x"}]')],
  ["bytes behind its payloads", framed('[1,"append",{"payload":1}]', 1, 2)],
])("%s is refused", (_, bytes) => {
  expect(() => [...new FrameReader().read(bytes)]).toThrow(
    expect.objectContaining({ code: "HONE_ERR_FORMAT" }),
  );
});

test("more than 1 GiB is refused before anything is sent", () => {
  const large = { length: 2 ** 30 } as Uint8Array;
  expect(() => encodeFrame([1, "append", { payload: large }])).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining("at most 1 GiB") }),
  );
});
