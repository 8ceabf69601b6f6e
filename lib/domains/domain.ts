import type { Family } from "../data/family.ts";
import type { DatasetOptions, RowReader } from "../data/row-reader.ts";
import type { VerifierFacts } from "./verifier.ts";

/**
 * What a run knows of a domain from the start: its problem sources and which verifiers it has. Those are in the folder's
 * verifiers.ts and the reader of its case files in cases.ts, loaded by who needs them.
 */
export interface Domain {
  /** Readers of published data sets by the kind a recipe names. */
  readonly datasets: Readonly<Record<string, RowReader<DatasetOptions>>>;
  /** The families of the source `procedural/<domain>`; demonstrations are made of these. */
  readonly families?: readonly Family[];
  /** Further sources of made-up problems by their name in a recipe, each with what loads its families. */
  readonly sources?: Readonly<Record<string, () => Promise<readonly Family[]>>>;
  /** Of the verifiers of verifiers.ts, which the contract suite covers (test/contract/verifiers.test.ts). */
  readonly verifiers: Readonly<Record<string, VerifierFacts>>;
}
