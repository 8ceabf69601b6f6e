// Reads facts about the machine code of CUDA kernels from compiled files, without a disassembler: how many loads each
// kernel issues together, and how many expensive instructions it has, by kind.
import { Buffer } from "node:buffer";

const CUDA_MACHINE = 190;
const INSTRUCTION_BYTES = 16;
const COUNTED = ["cas", "calls", "wgmma", "r2ur", "waits"];
const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);

/** The lowest nine bits of an instruction (sm_80 to sm_90); the three bits above them say where its operands are. */
const OPCODES = new Map([
  [0x181, "load"], // LDG
  [0x186, "store"], // STG
  [0x18d, "cas"], // ATOMS.CAS: one attempt of a compare-and-swap loop
  [0x1a9, "cas"], // ATOMG.CAS
  [0x147, "branch"], // BRA
  [0x144, "calls"], // CALL.REL: a 64-bit division, or a division rounded as IEEE demands
  [0x1f0, "wgmma"], // HGMMA
  [0x0ca, "r2ur"], // R2UR: copies a register to a uniform register
  [0x02e, "waits"], // ACQBULK: waits for the preceding kernel (griddepcontrol.wait)
]);

/** Bits 73 to 75 of a load say how many bits each thread loads. */
const LOAD_BITS = new Map([
  [2, 16],
  [4, 32],
  [5, 64],
  [6, 128],
]);

/**
 * Returns facts of one kernel's code. loads16 to loads128: the most global loads of this many bits that are issued without a
 * store, branch or call between them. Omits kinds of which the kernel has none.
 */
export function factsOf(code) {
  const facts = {
    loads16: 0,
    loads32: 0,
    loads64: 0,
    loads128: 0,
    cas: 0,
    calls: 0,
    wgmma: 0,
    r2ur: 0,
    waits: 0,
  };
  let together = {};
  for (let at = 0; at + INSTRUCTION_BYTES <= code.length; at += INSTRUCTION_BYTES) {
    const kind = OPCODES.get(code.readUInt16LE(at) & 0x1ff);
    const bits = LOAD_BITS.get((code[at + 9] >> 1) & 7);
    if (kind === "load" && bits) {
      const name = `loads${bits}`;
      together[name] = (together[name] ?? 0) + 1;
      facts[name] = Math.max(facts[name], together[name]);
    }
    if (kind === "store" || kind === "branch" || kind === "calls") together = {};
    if (COUNTED.includes(kind)) facts[kind] += 1;
  }
  if (!facts.wgmma) facts.r2ur = 0;
  return Object.fromEntries(Object.entries(facts).filter(([, count]) => count > 0));
}

/** Returns the sections [name, bytes] of the 64-bit ELF file that starts at `start`. */
function* sections(bytes, start) {
  const file = bytes.subarray(start);
  const table = Number(file.readBigUInt64LE(0x28));
  const [size, count, names] = [0x3a, 0x3c, 0x3e].map((at) => file.readUInt16LE(at));
  const header = (i) => {
    const at = table + i * size;
    const [offset, length] = [0x18, 0x20].map((field) => Number(file.readBigUInt64LE(at + field)));
    return { name: file.readUInt32LE(at), offset, length };
  };
  const strings = header(names).offset;
  for (let i = 0; i < count; ++i) {
    const { name, offset, length } = header(i);
    const text = file.subarray(strings + name, file.indexOf(0, strings + name)).toString("latin1");
    yield [text, file.subarray(offset, offset + length)];
  }
}

/**
 * Returns all kernels of a cubin, or of an object whose device code is not compressed (nvcc --no-compress):
 * [{ architecture: 90, name (mangled), ...facts }]. Empty if there is no readable code.
 */
export function kernelsIn(bytes) {
  const found = [];
  for (let at = bytes.indexOf(ELF); at >= 0; at = bytes.indexOf(ELF, at + 1)) {
    if (bytes.readUInt16LE(at + 18) !== CUDA_MACHINE) continue;
    const architecture = (bytes.readUInt32LE(at + 48) >> 8) & 0xff;
    for (const [section, code] of sections(bytes, at))
      if (section.startsWith(".text."))
        found.push({ architecture, name: section.slice(".text.".length), ...factsOf(code) });
  }
  return found;
}
