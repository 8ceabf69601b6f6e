import type { Family } from "../data/family.ts";
import type { DatasetOptions, RowReader } from "../data/row-reader.ts";
import type { Verifier } from "./verifier.ts";
import type { CaseReader } from "./verify-case.ts";

/** Everything one domain brings along: where its problems come from and who judges the answers. */
export interface Domain {
  /** Readers of published data sets by the kind a recipe names. */
  readonly datasets: Readonly<Record<string, RowReader<DatasetOptions>>>;
  /** What the source `procedural/<domain>` draws from; demonstrations are made of these. */
  readonly families?: readonly Family[];
  /** More sources of made-up problems by the name a recipe gives, each with what it draws from. */
  readonly sources?: Readonly<Record<string, readonly Family[]>>;
  /** Those of the folder's verifiers.ts, covered by the contract suite (test/contract/verifiers.test.ts). */
  readonly verifiers: readonly Verifier[];
  /** How the rows of the domain's case files are read; the fields are in docs/verify.md. */
  readonly readCase?: CaseReader;
}
