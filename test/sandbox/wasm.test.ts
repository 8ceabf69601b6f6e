import { describe, expect, test } from "vitest";
import type { SandboxFailure, SandboxLimits } from "../../lib/sandbox/sandbox.ts";
import { WasmSandbox } from "../../lib/sandbox/wasm.ts";

// Deliberate faults (mutants) that these tests detect: no memory limit, an interrupt handler that never interrupts,
// no stack limit, no type test before getString, Math.random available, no Promise. Each fails or hangs a row below.

const limits: SandboxLimits = {
  fuel: 5,
  memoryBytes: 4 << 20,
  stackBytes: 128 << 10,
  maxProgramChars: 300,
  maxOutputChars: 1000,
};
const sandbox = new WasmSandbox();
const run = (expression: string, inputs: readonly (number | string)[] = [2, 5]) =>
  sandbox.run({ expression }, inputs, limits);

describe("honest programs", () => {
  test.each<[string, readonly (number | string)[], readonly (number | string)[]]>([
    ["x*2+3", [-3, 0, 2.5], [-3, 3, 8]],
    ["x", ["", "é\u{1f600}", '"\\\n\u2028'], ["", "é\u{1f600}", '"\\\n\u2028']],
    ["x>0?'up':'down'", [1, -1], ["up", "down"]],
    ["Math.max(x,0)", [-1, 1], [0, 1]],
    ["1/x", [0], [Number.POSITIVE_INFINITY]],
    ["x // a comment", [4], [4]],
    ["(y=>y*y)(x)", [7], [49]],
    ["eval('x+1')", [1], [2]],
  ])("%s of %j gives %j", async (expression, inputs, outputs) => {
    expect(await run(expression, inputs)).toEqual({ ok: true, outputs });
  });
});

/** Attacks that a policy might find. Every row must end, fail with the given name, and leave the sandbox usable. */
const HOSTILE: readonly (readonly [expression: string, failure: SandboxFailure])[] = [
  ["(()=>{while(1);})()", "out-of-fuel"],
  ["(()=>{for(;;)try{for(;;);}catch{}finally{continue}})()", "out-of-fuel"],
  ["x))(1);while(1);((x)=>(x", "out-of-fuel"],
  ["(()=>{throw{get message(){for(;;);}}})()", "out-of-fuel"],
  ["[3,1,2].sort(()=>{for(;;);})", "out-of-fuel"],
  ["(function*(){for(;;)yield 1})().next().value+(()=>{for(;;);})()", "out-of-fuel"],
  ["({get y(){for(;;);}}).y", "out-of-fuel"],
  ["eval('for(;;);')", "out-of-fuel"],
  ["new Function('for(;;);')()", "out-of-fuel"],
  ["''+{toString(){for(;;);}}", "out-of-fuel"],
  ["'a'.repeat(1e9)", "out-of-memory"],
  ["'a'.padEnd(1e8)", "out-of-memory"],
  ["[...'a'.repeat(1e6)].length", "out-of-memory"],
  ["(()=>{let a=[];for(;;)a.push(a)})()", "out-of-fuel"],
  ["(()=>{let o={};for(let i=0;;i++)o[i]=i})()", "out-of-fuel"],
  ["Array(1e9).fill(0)", "out-of-memory"],
  ["Array.from({length:1e9})", "out-of-memory"],
  ["(f=>f(f))(f=>f(f))", "stack-overflow"],
  ["(function f(){return[f()]})()", "stack-overflow"],
  ["(()=>{throw 1})()", "threw"],
  ["(()=>{throw{get message(){throw 1}}})()", "threw"],
  ["(()=>{let s='a';for(;;)s+=s})()", "threw"],
  ["process.exit()", "threw"],
  ["require('fs')", "threw"],
  ["constructor.constructor('return process')()", "threw"],
  ["globalThis.fetch('http://localhost')", "threw"],
  ["new Proxy({},{})", "threw"],
  ["new Date()", "threw"],
  ["Math.random()", "threw"],
  ["null.x", "threw"],
  ["9n**9n**9n", "threw"],
  ["import('fs')", "output-type"],
  ["async()=>{for(;;)await 1}", "output-type"],
  ["(async()=>{for(;;)await 1})()", "output-type"],
  ["({valueOf(){return 7},toString(){return'7'}})", "output-type"],
  ["new Number(7)", "output-type"],
  ["new String('7')", "output-type"],
  ["Symbol('7')", "output-type"],
  ["2n**64n", "output-type"],
  ["()=>7", "output-type"],
  ["this", "output-type"],
  ["undefined", "output-type"],
  ["true", "output-type"],
  ["'a'.repeat(1001)", "output-type"],
  ["x;", "syntax"],
  ["let y", "syntax"],
  ["/(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaab')", "syntax"],
  ["(".repeat(250), "syntax"],
  ["", "syntax"],
  ["x".repeat(301), "too-long"],
];

describe("hostile programs", () => {
  test.each(HOSTILE)("%s: %s", async (expression, failure) => {
    expect(await run(expression)).toMatchObject({ ok: false, failure });
    expect(await run("x*2+3")).toEqual({ ok: true, outputs: [7, 13] });
  });

  test("constants that would take the universe to fold are just infinite", async () => {
    expect(await run("9**9**9**9")).toEqual({
      ok: true,
      outputs: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    });
  });

  test("a caught stack overflow or a shadowed built-in changes nothing for others", async () => {
    await run("(()=>{try{(function f(){f()})()}catch{return 5}})()");
    expect(await run("x*2+3")).toEqual({ ok: true, outputs: [7, 13] });
  });
});

describe("nothing is left for the next run", () => {
  test.each([
    ["a global", "globalThis.leak=1", "typeof leak"],
    ["a prototype", "Object.prototype.leak=1", "typeof ({}).leak"],
    ["a patched method", "(Math.max=()=>1)()", "Math.max(x,7)"],
    ["a patched primitive", "(String.prototype.trim=()=>'no',1)", "' a '.trim()"],
    ["a registered symbol", "(Object[Symbol.for('leak')]=1)", "typeof Object[Symbol.for('leak')]"],
  ])("%s", async (_, plant, look) => {
    const before = await run(look);
    expect(await run(plant)).toMatchObject({ ok: true });
    expect(await run(look)).toEqual(before);
  });

  test("hundreds of bombs do not grow the process", async () => {
    for (let i = 0; i < 20; i++) await run("[...'a'.repeat(1e6)]");
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 300; i++) await run("'a'.repeat(1e9)");
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 << 20);
  });
});

test("results cannot be forged through the built-ins that might carry them", async () => {
  const forge =
    "(Number.prototype.valueOf=()=>99,Object.prototype.toString=()=>'99',Number.prototype.toJSON=()=>99,x)";
  expect(await run(forge)).toEqual({ ok: true, outputs: [2, 5] });
});

test("inputs reach the program as values, whatever they spell", async () => {
  expect(await run("x.length", ["');while(1);('", "{1}", "\\u0000"])).toEqual({
    ok: true,
    outputs: [14, 3, 6],
  });
});

test("fuel measures work, not time, so whether a loop fits is the same on any machine", async () => {
  const turns = (n: number) => run(`(()=>{let i=0;while(i<${n})i++;return i})()`, [0]);
  expect(await turns(20_000)).toEqual({ ok: true, outputs: [20_000] });
  for (let i = 0; i < 3; i++)
    expect(await turns(60_000)).toMatchObject({ ok: false, failure: "out-of-fuel" });
});

test("the same program gives the same outputs again", async () => {
  const program = "[x,typeof Date,Object.keys({b:1,a:2}).join()].join('|')";
  expect(await run(program)).toEqual(await new WasmSandbox().run({ expression: program }, [2, 5], limits));
});
