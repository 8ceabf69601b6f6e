/** The parts of @huggingface/jinja that are used here, typed: its own declarations do not resolve under Node's rules. */
import * as jinja from "@huggingface/jinja";
import type { Value } from "./python-values.ts";

export interface Token {
  readonly type: string;
  readonly value: string;
}

export interface Statement {
  readonly type: string;
}

export interface Program extends Statement {
  readonly body: Statement[];
}

export interface Scope {
  /** Converts a JavaScript value and declares it. */
  set(name: string, value: unknown): Value;
  setVariable(name: string, value: Value): Value;
  lookupVariable(name: string): Value;
}

export interface Walker {
  readonly global: Scope;
  run(program: Program): Value;
  evaluate(statement: Statement | undefined, environment: Scope): Value;
}

interface Jinja {
  readonly tokenize: (source: string, options: { lstrip_blocks: boolean; trim_blocks: boolean }) => Token[];
  readonly parse: (tokens: Token[]) => Program;
  readonly Environment: new (parent?: Scope) => Scope;
  readonly Interpreter: new (environment: Scope) => Walker;
}

export const { tokenize, parse, Environment, Interpreter } = jinja as unknown as Jinja;
