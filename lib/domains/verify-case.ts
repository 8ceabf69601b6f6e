import type { Completion, Verifier } from "./verifier.ts";

/** One line of a case file as `hone verify` judges it. */
export interface VerifyCase {
  readonly verifier: Verifier;
  readonly completion: Completion;
  /** As a problem would carry it, strict; goes through the verifier's parseReference. */
  readonly reference: Readonly<Record<string, unknown>>;
}

/**
 * Reads one row of a domain's case file (fields: docs/reference/verify.md). `folder` is where that file lies, for rows that
 * name an entry of a file beside it; `text` is the row as JSON, for numbers that parsing would round.
 * Throws HONE_ERR_DATA naming the field that is missing or wrong.
 */
export type CaseReader = (
  row: Readonly<Record<string, unknown>>,
  folder: string,
  text?: string,
) => VerifyCase | Promise<VerifyCase>;
