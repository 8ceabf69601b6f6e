// Tests the parser of `ptxas -v` and the comparison; .ci/run compiles the kernels.
import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import * as resources from "../../scripts/cuda-resources.mjs";

const { compareResources, heldProducts, parseBuildLog, parseResources, shortName } = resources;

const REPORT = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4copyPfi' for 'sm_80'
ptxas info    : Function properties for _Z4copyPfi
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 384 bytes smem, 384 bytes cmem[0]
ptxas info    : Compiling entry function '_Z3addPf' for 'sm_80'
ptxas info    : Function properties for _Z3addPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
`;

test("every kernel's registers, stack and spills are read", () => {
  expect(parseResources(REPORT)).toEqual({
    _Z4copyPfi: { registers: 40, stack: 16, spills: 12 },
    _Z3addPf: { registers: 8, stack: 0, spills: 0 },
  });
});

test("the log of a build is told apart by file and architecture", () => {
  const report = (kernel: string, architecture: string, registers: number) =>
    `ptxas info    : Compiling entry function '${kernel}' for '${architecture}'
ptxas info    : Function properties for ${kernel}
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used ${registers} registers\n`;
  const log = `[1/9] Building CXX object CMakeFiles/x.dir/csrc/core/a.cc.o
[2/9] Building CUDA object CMakeFiles/x.dir/csrc/kernels/cuda/b.cu.o
ptxas info    : 0 bytes gmem
${report("b1", "sm_80", 8)}${report("b2", "sm_80", 9)}${report("b1", "sm_90a", 10)}[3/9] Linking CXX static library libx.a
ptxas info    : Used 99 registers
[4/9] Building CUDA object CMakeFiles/x.dir/csrc/kernels/cuda/a_sm90.cu.o
${report("a", "sm_80", 8)}${report("a", "sm_90a", 168)}`;
  expect(parseBuildLog(log)).toEqual({
    "a_sm90.cu sm_90a": { a: use(168) },
    "b.cu sm_80": { b1: use(8), b2: use(9) },
    "b.cu sm_90a": { b1: use(10) },
  });
});

test.each([
  ["void hone::kernels::cuda::(anonymous namespace)::norm_kernel<32>(hone::Norm)", "norm_kernel<32>"],
  [
    "void (anonymous namespace)::cast_kernel<float, __nv_bfloat16>(float const*)",
    "cast_kernel<float, __nv_bfloat16>",
  ],
  ["_Z3addPf", "_Z3addPf"],
])("%s is called %s", (long, short) => {
  expect(shortName(long)).toBe(short);
});

const use = (registers: number, stack = 0, spills = 0) => ({ registers, stack, spills });

test.each([
  ["the same", { a: use(40) }, []],
  ["fewer registers", { a: use(39) }, []],
  ["more registers", { a: use(41) }, ["x: a has 41 registers, the table says 40"]],
  ["spills", { a: use(40, 0, 4) }, ["x: a has 4 spills, the table says 0"]],
  ["a new kernel", { a: use(40), b: use(1) }, ["x: b is not in the table"]],
  [
    "a new kernel that spills",
    { a: use(40), b: use(1, 0, 8) },
    ["x: b is not in the table", "x: b spills 8 bytes"],
  ],
  ["a kernel that is gone", {}, ["x: a is gone"]],
])("%s", (_, got, complaints) => {
  expect(compareResources({ x: { a: use(40) } }, { x: got }, true)).toEqual(complaints);
});

test("the table of another compiler speaks of spills only", () => {
  expect(compareResources({ x: { a: use(40) } }, { x: { a: use(60), b: use(9) } }, false)).toEqual([]);
  expect(compareResources({ x: { a: use(40) } }, { x: { a: use(40, 8, 8) } }, false)).toHaveLength(1);
});

test("a kernel whose wgmma products ptxas holds up is named once, with what it says", () => {
  const note = (code: string, name: string) =>
    `ptxas info    : (${code}) warpgroup.arrive is injected in around line 7 by compiler to allow use of registers in GMMA in function '${name}'\n`;
  const text = `${note("C7519", "a")}ptxas info    : 0 bytes gmem\n${note("C7517", "a")}${note("C7519", "a")}${note("C7510", "b")}`;
  expect(heldProducts(text)).toEqual([
    "a: ptxas holds up its wgmma products (C7517, C7519)",
    "b: ptxas holds up its wgmma products (C7510)",
  ]);
  expect(heldProducts(REPORT)).toEqual([]);
});

test("every note by which ptxas gives up overlap is one, whatever its number", () => {
  const text = `ptxas info    : (C7520) Potential Performance Loss: wgmma.mma_async instructions are serialized due to program dependence on compiler-inserted WG.AR in divergent path in the function 'a'
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : (C7500) something else in function 'b'\n`;
  expect(heldProducts(text)).toEqual([
    "a: ptxas holds up its wgmma products (C7520)",
    "some kernel: 'setmaxnreg' ignored; unable to determine register count at entry.",
  ]);
});

test.each([
  ["head_tile_sm90_kernel<X>", 168, 160, true],
  ["head_tile_sm90_kernel<X>", 168, 168, false],
  ["head_tile_sm90_kernel<X>", 128, 126, true],
  ["head_tile_sm90_kernel<X>", 115, 100, false],
  ["attention_packed_kernel<64>", 168, 160, false],
])(
  "%s, launched with %i registers, now with %i: setmaxnreg lacks some is %s",
  (name, was, now, complains) => {
    const complaint = `x: ${name} starts with ${now} registers, setmaxnreg needs ${was}`;
    for (const exact of [true, false])
      expect(compareResources({ x: { [name]: use(was) } }, { x: { [name]: use(now) } }, exact)).toEqual(
        complains ? [complaint] : [],
      );
  },
);
