// Tests the reader of machine code, on instructions and files made here. The encodings were checked against nvdisasm
// for sm_90a.
import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import * as resources from "../../scripts/cuda-resources.mjs";
// @ts-expect-error a script, not a module with types
import * as sass from "../../scripts/cuda-sass.mjs";

const { addFacts, compareResources } = resources;
const { factsOf, kernelsIn } = sass;

/** An instruction of 16 bytes: the first 16 bits of its lower and of its upper half. */
function instruction(low: number, high = 0): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(low, 0);
  bytes.writeUInt16LE(high, 8);
  return bytes;
}

// Instructions as nvdisasm shows them; the first digit is the predicate, 7 for none.
const LDG_64 = instruction(0x7981, 0x1b00);
const LDG_32 = instruction(0x3981, 0x1900);
const LDG_U16 = instruction(0x7981, 0x1500);
const STG = instruction(0x7986, 0x1b06);
const BRA = instruction(0x0947);
const CAS = instruction(0x738d, 0x0406);
const ATOMS_ADD = instruction(0x738c);
const CALL = instruction(0x7944);
const WGMMA = instruction(0x79f0);
const R2UR = instruction(0x72ca);
const ACQBULK = instruction(0x782e);
const FADD = instruction(0x7221);

test.each([
  ["loads with sums between them count as one batch", [LDG_64, FADD, LDG_64, STG, LDG_64], { loads64: 2 }],
  ["a branch ends a batch", [LDG_32, LDG_32, LDG_32, BRA, LDG_32, LDG_32], { loads32: 3 }],
  ["widths are told apart", [LDG_64, LDG_32, LDG_U16, LDG_U16], { loads16: 2, loads32: 1, loads64: 1 }],
  ["loops of compare-and-swap, not additions", [CAS, ATOMS_ADD, CAS], { cas: 2 }],
  ["calls", [CALL, LDG_32], { calls: 1, loads32: 1 }],
  ["uniform registers count beside wgmma", [R2UR, WGMMA, R2UR], { wgmma: 1, r2ur: 2 }],
  ["and nowhere else", [R2UR, STG], {}],
  ["waits for the kernel in front", [ACQBULK, LDG_32], { loads32: 1, waits: 1 }],
])("%s", (_, code, facts) => {
  expect(factsOf(Buffer.concat(code as Buffer[]))).toEqual(facts);
});

/** A 64-bit ELF file with one code section, in the form of a cubin. */
function elf(machine: number, architecture: number, kernel: string, code: Buffer): Buffer {
  const names = Buffer.from(`\0.text.${kernel}\0.names\0`);
  const file = Buffer.alloc(64 + 3 * 64 + names.length + code.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  file.writeUInt16LE(machine, 18);
  file.writeBigUInt64LE(64n, 0x28);
  file.writeUInt32LE((architecture << 8) | 4, 48);
  file.writeUInt16LE(64, 0x3a);
  file.writeUInt16LE(3, 0x3c);
  file.writeUInt16LE(2, 0x3e);
  const section = (index: number, name: number, at: number, size: number) => {
    file.writeUInt32LE(name, 64 + 64 * index);
    file.writeBigUInt64LE(BigInt(at), 64 + 64 * index + 0x18);
    file.writeBigUInt64LE(BigInt(size), 64 + 64 * index + 0x20);
  };
  const start = 64 + 3 * 64;
  section(1, 1, start + names.length, code.length);
  section(2, names.indexOf(".names"), start, names.length);
  names.copy(file, start);
  code.copy(file, start + names.length);
  return file;
}

test("kernels of every architecture are found in an object, whatever else it holds", () => {
  const object = Buffer.concat([
    elf(62, 0, "host", CAS),
    elf(190, 80, "_Z1kv", Buffer.concat([LDG_32, STG])),
    Buffer.from("between"),
    elf(190, 90, "_Z1kv", Buffer.concat([LDG_32, LDG_32, STG])),
  ]);
  expect(kernelsIn(object)).toEqual([
    { architecture: 80, name: "_Z1kv", loads32: 1 },
    { architecture: 90, name: "_Z1kv", loads32: 2 },
  ]);
  const use = { registers: 8, stack: 0, spills: 0 };
  const kernels = { "k.cu sm_90a": { _Z1kv: { ...use } }, "other.cu sm_80": { _Z1kv: { ...use } } };
  expect(addFacts(kernels, "k.cu", object)).toBe(2);
  expect(kernels).toEqual({
    "k.cu sm_90a": { _Z1kv: { ...use, loads32: 2 } },
    "other.cu sm_80": { _Z1kv: use },
  });
  expect(kernelsIn(Buffer.from("compressed"))).toEqual([]);
});

const kernel = (facts: object) => ({ x: { a: { registers: 8, stack: 0, spills: 0, ...facts } } });

test.each([
  ["fewer loads at once", { loads64: 1 }, ["x: a has 1 loads64, the table says at least 16"]],
  ["more", { loads64: 17 }, []],
  ["a loop of compare-and-swap", { loads64: 16, cas: 1 }, ["x: a has 1 cas, the table says 0"]],
  ["code that was not readable", {}, []],
])("%s", (_, facts, complaints) => {
  expect(compareResources(kernel({ loads64: 16 }), kernel(facts), true)).toEqual(complaints);
  expect(compareResources(kernel({ loads64: 16 }), kernel(facts), false)).toEqual([]);
});

test("a table that says nothing of a kernel's code asks nothing of it", () => {
  expect(compareResources(kernel({}), kernel({ loads64: 2, cas: 1 }), true)).toEqual([]);
});
