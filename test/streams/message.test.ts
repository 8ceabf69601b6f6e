import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crc32c } from "../../lib/shared/files/crc32c.ts";
import {
  decodeMessage,
  encodeMessage,
  MESSAGE_VERSION,
  type Message,
  sectionOf,
} from "../../lib/streams/index.ts";

const ROLLOUT: Message = {
  kind: "rollout",
  header: { group: 7, finish: "eos", versions: [[3, 120]], nested: { ü: null, ok: true, x: -0.5 } },
  sections: {
    tokens: Int32Array.of(1, -2, 3),
    logprobs: Float32Array.of(-0.5, Number.NaN, Number.NEGATIVE_INFINITY),
    given: Uint8Array.of(0, 1, 1),
    ids: BigInt64Array.of(-1n, 2n ** 60n),
    empty: new Float64Array(0),
  },
};

const arrays = fc.oneof(
  fc.uint8Array(),
  fc.uint16Array(),
  fc.uint32Array(),
  fc.int32Array(),
  fc.bigInt64Array(),
  fc.float32Array(),
  fc.float64Array(),
);
const names = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("__proto__", "constructor", "1"));
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger().map((n) => n + 0),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).filter((x) => !Object.is(x, -0)),
    fc.string({ unit: "grapheme" }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const messages = fc.record({
  kind: fc.string({ unit: "grapheme" }),
  header: fc.dictionary(names, values, { maxKeys: 5, noNullPrototype: true }),
  sections: fc.dictionary(names, arrays, { maxKeys: 4, noNullPrototype: true }),
}) as fc.Arbitrary<Message>;

/** The arrays as bytes, so that NaN and -0 compare exactly. */
const plain = ({ kind, header, sections }: Message) => ({
  kind,
  header,
  sections: Object.entries(sections).map(([name, array]) => [
    name,
    array.constructor.name,
    Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("hex"),
  ]),
});

describe("a message", () => {
  test("comes back as it was, wherever its bytes lie", () => {
    fc.assert(
      fc.property(messages, fc.nat(9), (message, shift) => {
        const bytes = encodeMessage(message);
        const moved = new Uint8Array(bytes.length + shift);
        moved.set(bytes, shift);
        expect(plain(decodeMessage(moved.subarray(shift)))).toEqual(plain(message));
      }),
    );
  });

  test("holds its arrays as copies, and takes views of parts", () => {
    const tokens = Int32Array.of(9, 1, 2, 9).subarray(1, 3);
    const bytes = encodeMessage({ kind: "k", header: {}, sections: { tokens } });
    const decoded = decodeMessage(bytes);
    bytes.fill(0);
    expect(sectionOf(decoded, "tokens", "i32")).toEqual(Int32Array.of(1, 2));
  });

  test("gives an array only as what it is", () => {
    const message = decodeMessage(encodeMessage(ROLLOUT));
    expect(sectionOf(message, "ids", "i64")).toEqual(ROLLOUT.sections["ids"]);
    for (const call of [() => sectionOf(message, "ids", "f64"), () => sectionOf(message, "toString", "u8")])
      expect(call).toThrow(expect.objectContaining({ code: "HONE_ERR_FORMAT" }));
  });

  test("is laid out as written down", () => {
    const bytes = Buffer.from(encodeMessage({ kind: "k", header: {}, sections: { a: Uint16Array.of(258) } }));
    const head = '["k",{},[["a","u16",1]]]';
    expect(bytes.subarray(0, 8).toString("hex")).toBe("484f4e6d01000000");
    expect(bytes.readUInt32LE(8)).toBe(bytes.length);
    expect(bytes.readUInt32LE(16)).toBe(head.length);
    expect(bytes.subarray(20, 20 + head.length).toString()).toBe(head);
    expect(bytes.subarray(48).toString("hex")).toBe("0201");
  });
});

describe("refused, with HONE_ERR_FORMAT, is", () => {
  const whole = encodeMessage(ROLLOUT);
  const refused = (bytes: Uint8Array, message: RegExp) =>
    expect(() => decodeMessage(bytes)).toThrow(
      expect.objectContaining({ code: "HONE_ERR_FORMAT", message: expect.stringMatching(message) }),
    );
  /** Sets a message's checksum and length to match its bytes. */
  const sealed = (bytes: Uint8Array, from: (bytes: Buffer) => void = () => {}): Buffer => {
    const copy = Buffer.from(bytes);
    from(copy);
    copy.writeUInt32LE(copy.length, 8);
    copy.writeUInt32LE(crc32c(copy.subarray(16)), 12);
    return copy;
  };
  const withHead = (head: string) => {
    const bytes = Buffer.alloc(20 + Buffer.byteLength(head));
    bytes.set(whole.subarray(0, 16));
    bytes.write(head, 20);
    return sealed(bytes, (b) => b.writeUInt32LE(Buffer.byteLength(head), 16));
  };

  test("every truncation, and bytes behind it", () => {
    for (let length = 0; length < whole.length; ++length) refused(whole.subarray(0, length), /bytes/);
    refused(Buffer.concat([whole, Buffer.alloc(1)]), /bytes are here/);
    refused(sealed(Buffer.concat([whole, Buffer.alloc(8)])), /follow its last array/);
  });

  test("every single flipped bit", () => {
    for (let bit = 0; bit < 8 * whole.length; ++bit) {
      const altered = Uint8Array.from(whole);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      refused(altered, /not a valid message/);
    }
  });

  test("another version, named before anything else is looked at", () => {
    const foreign = Buffer.from(whole);
    foreign.writeUInt16LE(MESSAGE_VERSION + 1, 4);
    refused(foreign, /of version 2, this package reads 1/);
  });

  test.each([
    ["no JSON", "[1", /not JSON/],
    ["an integer that JavaScript would round", '["k",{"n":9007199254740993},[]]', /no number/],
    ["a head of another form", '{"kind":"k"}', /not \[kind/],
    ["a header that is a list", '["k",[],[]]', /not \[kind/],
    ["an unknown type", '["k",{},[["a","code",1]]]', /not \[kind/],
    ["an inherited type", '["k",{},[["a","toString",1]]]', /not \[kind/],
    ["a negative size", '["k",{},[["a","u8",-1]]]', /not \[kind/],
    ["an array that is not there", '["k",{},[["a","f64",1000000]]]', /ends at byte/],
    ["a header nested without end", `["k",${'{"a":'.repeat(50)}1${"}".repeat(50)},[]]`, /nested deeper/],
  ])("%s, under a right checksum", (_, head, message) => {
    refused(withHead(head), message);
  });

  test("a head that is longer than all", () => {
    refused(
      sealed(whole, (b) => b.writeUInt32LE(1 << 30, 16)),
      /head ends at/,
    );
  });
});

test.each([
  ["undefined in a list", { a: [1, undefined] }],
  ["NaN", { a: Number.NaN }],
  ["an integer beyond 2^53", { a: 2 ** 53 }],
  ["a bigint", { a: 1n }],
])("a header with %s is not written", (_, header) => {
  expect(() => encodeMessage({ kind: "k", header: header as never, sections: {} })).toThrow(
    expect.objectContaining({ code: "HONE_ERR_USAGE" }),
  );
});

test("a field of a header that is undefined is left out, as JSON does", () => {
  const header = { a: undefined, b: { c: undefined, d: 1 } } as unknown as Message["header"];
  const { header: read } = decodeMessage(encodeMessage({ kind: "k", header, sections: {} }));
  expect(read).toEqual({ b: { d: 1 } });
  expect(Object.hasOwn(read, "a")).toBe(false);
});

test("an array of another type is not written", () => {
  const sections = { a: new Int8Array(1) } as unknown as Message["sections"];
  expect(() => encodeMessage({ kind: "k", header: {}, sections })).toThrow(
    /array "a" of a message is none of/,
  );
});
