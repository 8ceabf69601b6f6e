import type { PythonValue } from "../../python/value.ts";

/** One call as the model gave it, from either dialect. */
export interface Call {
  /** Undefined if the model gave something other than a text; then it fits no function. */
  readonly name: string | undefined;
  readonly arguments: ReadonlyMap<string, PythonValue>;
  /** Number of arguments without a name; the reference drops them silently. */
  readonly positional: number;
}

/** The calls of a completion, that it makes none, or why it cannot be read. */
export type Calls =
  | { readonly kind: "calls"; readonly calls: readonly Call[] }
  | { readonly kind: "none"; readonly reason: string }
  | { readonly kind: "malformed"; readonly reason: string };
