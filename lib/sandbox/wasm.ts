import {
  type Intrinsics,
  newQuickJSWASMModule,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from "quickjs-emscripten";
import { HoneError } from "../errors.ts";
import type {
  Sandbox,
  SandboxFailure,
  SandboxLimits,
  SandboxProgram,
  SandboxResult,
  SandboxValue,
} from "./sandbox.ts";

/**
 * The intrinsics that expressions need, and Promise, without which the engine aborts on `async`. Others would cost
 * set-up time; besides, RegExp could run without interruption, and Date would expose the time.
 */
const INTRINSICS: Intrinsics = { BaseObjects: true, Eval: true, Promise: true };

/** Randomness would make a verdict depend on more than the answer. */
const PRELUDE = '"use strict";delete Math.random;';

const failed = (failure: SandboxFailure, detail: string): SandboxResult => ({ ok: false, failure, detail });

/** A JavaScript engine compiled to WebAssembly: it has only its own memory, and the returned value is its only output. */
export class WasmSandbox implements Sandbox {
  readonly name = "wasm";
  #engine: Promise<QuickJSWASMModule> | undefined;

  async start(): Promise<void> {
    await this.#load();
  }

  async run(
    program: SandboxProgram,
    inputs: readonly SandboxValue[],
    limits: SandboxLimits,
  ): Promise<SandboxResult> {
    const { expression } = program;
    if (expression.length > limits.maxProgramChars)
      return failed("too-long", `${expression.length} characters`);
    const engine = await this.#load();
    try {
      return runOn(engine, expression, inputs, limits);
    } catch (cause) {
      this.#engine = undefined; // the runtime is discarded, because its heap may be damaged
      return failed("crash", cause instanceof Error ? cause.message : String(cause));
    }
  }

  #load(): Promise<QuickJSWASMModule> {
    this.#engine ??= newQuickJSWASMModule(QUIET).catch((cause: unknown) => {
      this.#engine = undefined;
      throw new HoneError("HONE_ERR_VERIFIER", "the WebAssembly sandbox did not start", { cause });
    });
    return this.#engine;
  }
}

/** Creates a runtime and a context for this run alone, so that no state is left for the next one. */
function runOn(
  engine: QuickJSWASMModule,
  expression: string,
  inputs: readonly SandboxValue[],
  limits: SandboxLimits,
): SandboxResult {
  using runtime = engine.newRuntime();
  runtime.setMemoryLimit(limits.memoryBytes);
  runtime.setMaxStackSize(limits.stackBytes);
  let left = limits.fuel;
  const exhausted = () => left < 0;
  runtime.setInterruptHandler(() => {
    left -= 1;
    return exhausted();
  });
  using context = runtime.newContext({ intrinsics: INTRINSICS });
  // The line break ends a trailing comment. A program that closes the parenthesis early can only run more of itself.
  const compiled = context.evalCode(`${PRELUDE}((x)=>(${expression}\n))`);
  using program = compiled.error ?? compiled.value;
  if (compiled.error) return describe(context, program, exhausted);
  const outputs: SandboxValue[] = [];
  for (const input of inputs) {
    using argument = typeof input === "number" ? context.newNumber(input) : context.newString(input);
    const called = context.callFunction(program, context.undefined, argument);
    using handle = called.error ?? called.value;
    if (called.error || exhausted()) return describe(context, handle, exhausted);
    const output = marshal(context, handle, limits.maxOutputChars);
    if (typeof output === "object") return output;
    outputs.push(output);
  }
  return { ok: true, outputs };
}

/** Returns only primitive numbers and strings: reading them runs no code of the program. */
function marshal(
  context: QuickJSContext,
  handle: QuickJSHandle,
  maxChars: number,
): SandboxValue | SandboxResult {
  const type = context.typeof(handle);
  if (type === "number") return context.getNumber(handle);
  if (type !== "string") return failed("output-type", type);
  const output = context.getString(handle);
  return output.length <= maxChars ? output : failed("output-type", `string of ${output.length} characters`);
}

/** Sorts a thrown value for the counters. A program can throw anything, so only counting depends on it. */
function describe(context: QuickJSContext, error: QuickJSHandle, exhausted: () => boolean): SandboxResult {
  const read = (key: string): string => {
    if (exhausted()) return "";
    using value = context.getProp(error, key); // reading the name may run a getter of the program, under the limits of the run
    return context.typeof(value) === "string" ? context.getString(value).slice(0, 100) : "";
  };
  const name = read("name");
  const message = read("message");
  if (exhausted()) return failed("out-of-fuel", "interrupted");
  if (name === "SyntaxError") return failed("syntax", message);
  if (/out of memory/.test(message)) return failed("out-of-memory", message);
  if (/stack overflow/.test(message)) return failed("stack-overflow", message);
  return failed("threw", `${name}: ${message}`);
}

type ModuleLoader = (options: object) => Promise<never>;

/** The engine, without its message on abort. */
const QUIET: QuickJSSyncVariant = {
  ...RELEASE_SYNC,
  importModuleLoader: async () => {
    const loaded: unknown = await RELEASE_SYNC.importModuleLoader();
    const load = (
      typeof loaded === "function" ? loaded : (loaded as { default: unknown }).default
    ) as ModuleLoader;
    return (options: object = {}) => load({ ...options, print: () => {}, printErr: () => {} });
  },
};
