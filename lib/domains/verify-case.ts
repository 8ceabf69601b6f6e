import type { Completion, Verifier } from "./verifier.ts";

/** `reference` reproduces the labels of the reference implementation, its bugs included; `strict` closes its exploits. */
export type Compat = "reference" | "strict";

/** One line of a case file as `hone verify` judges it. */
export interface VerifyCase {
  readonly verifier: Verifier;
  readonly completion: Completion;
  /** As a problem would carry it; goes through the verifier's parseReference. */
  readonly reference: unknown;
}

/**
 * Reads one row of a domain's case file (fields: docs/verify.md). `folder` is where that file lies, for rows that
 * name an entry of a file beside it; `text` is the row as JSON, for numbers that parsing would round.
 * Throws HONE_ERR_DATA naming the field that is missing or wrong.
 */
export type CaseReader = (
  row: Readonly<Record<string, unknown>>,
  compat: Compat,
  folder: string,
  text?: string,
) => VerifyCase | Promise<VerifyCase>;
