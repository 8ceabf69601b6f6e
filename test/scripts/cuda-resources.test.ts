// The reader of `ptxas -v` and the comparison; compiling is .ci/run's business.
import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { compareResources, parseResources, shortName } from "../../scripts/cuda-resources.mjs";

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
