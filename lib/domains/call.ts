import type { PythonValue } from "../python/value.ts";

/** One call made by the model, parsed from any of the known forms. */
export interface Call {
  /** Name of the called function; undefined if the model gave a name that is not a string, which matches no function. */
  readonly name: string | undefined;
  readonly arguments: ReadonlyMap<string, PythonValue>;
  /** Number of arguments without a name; the reference implementation drops them silently. */
  readonly positional: number;
}

/** The calls of a completion, or the fact that it makes none, or the reason why it cannot be read. */
export type Calls =
  | {
      readonly kind: "calls";
      readonly calls: readonly Call[];
      /** True if the text marks the end of the calls, so that a truncated text cannot look like fewer calls. */
      readonly ended: boolean;
    }
  | { readonly kind: "none"; readonly reason: string }
  | { readonly kind: "malformed"; readonly reason: string };
