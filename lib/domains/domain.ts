import type { Family } from "../data/family.ts";
import type { DatasetOptions, RowReader } from "../data/row-reader.ts";
import type { Verifier } from "./verifier.ts";
import type { CaseReader } from "./verify-case.ts";

/** Everything of one domain: its problem sources and its verifiers. */
export interface Domain {
  /** Readers of published data sets by the kind a recipe names. */
  readonly datasets: Readonly<Record<string, RowReader<DatasetOptions>>>;
  /** The families of the source `procedural/<domain>`; demonstrations are made of these. */
  readonly families?: readonly Family[];
  /** Further sources of made-up problems by their name in a recipe, each with its families. */
  readonly sources?: Readonly<Record<string, readonly Family[]>>;
  /** The verifiers of the folder's verifiers.ts, covered by the contract suite (test/contract/verifiers.test.ts). */
  readonly verifiers: readonly Verifier[];
  /** Reads the rows of the domain's case files; their fields are in docs/verify.md. */
  readonly readCase?: CaseReader;
}
