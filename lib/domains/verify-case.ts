import type { Completion, Verifier } from "./verifier.ts";

/** One line of a case file, as judged by `hone verify`. */
export interface VerifyCase {
  readonly verifier: Verifier;
  readonly completion: Completion;
  /** The reference as in a problem, strict by default; input of the verifier's parseReference. */
  readonly reference: Readonly<Record<string, unknown>>;
}

/**
 * Reads one row of a domain's case file (fields: docs/reference/verify.md). `folder` is the folder of that file, for
 * rows that name an entry of a neighbouring file; `text` is the row as JSON, for numbers that parsing would round.
 * Throws HONE_ERR_DATA naming the missing or wrong field.
 */
export type CaseReader = (
  row: Readonly<Record<string, unknown>>,
  folder: string,
  text?: string,
) => VerifyCase | Promise<VerifyCase>;
