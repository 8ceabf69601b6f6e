import type { PythonValue } from "../python/value.ts";

/** One call as the model gave it, in whatever form. */
export interface Call {
  /** Undefined if the model gave something other than a text; then it fits no function. */
  readonly name: string | undefined;
  readonly arguments: ReadonlyMap<string, PythonValue>;
  /** Number of arguments without a name; the reference drops them silently. */
  readonly positional: number;
}

/** The calls of a completion, that it makes none, or why it cannot be read. */
export type Calls =
  | {
      readonly kind: "calls";
      readonly calls: readonly Call[];
      /** Whether the text says where the calls end, so that one that was cut off cannot look like fewer calls. */
      readonly ended: boolean;
    }
  | { readonly kind: "none"; readonly reason: string }
  | { readonly kind: "malformed"; readonly reason: string };
