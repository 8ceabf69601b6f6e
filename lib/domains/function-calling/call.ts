import type { PythonValue } from "../../python/value.ts";

/** One call as the model gave it, from either dialect. */
export interface Call {
  /** Undefined where the model gave something else than a text; it fits no function. */
  readonly name: string | undefined;
  readonly arguments: ReadonlyMap<string, PythonValue>;
  /** Arguments without a name; the reference drops them without a word. */
  readonly positional: number;
}

/** What a completion says: its calls, that it makes none, or why it cannot be told. */
export type Calls =
  | { readonly kind: "calls"; readonly calls: readonly Call[] }
  | { readonly kind: "none"; readonly reason: string }
  | { readonly kind: "malformed"; readonly reason: string };
