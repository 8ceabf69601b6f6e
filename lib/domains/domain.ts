import type { Family } from "../data/family.ts";
import type { DatasetOptions, RowReader } from "../data/row-reader.ts";
import type { VerifierFacts } from "./verifier.ts";

/**
 * Facts about a domain that a run needs at its start: its problem sources and the names of its verifiers. The
 * verifiers are in the folder's verifiers.ts and the reader of its case files in cases.ts, loaded on demand.
 */
export interface Domain {
  /** Readers of published data sets by the kind a recipe names. */
  readonly datasets: Readonly<Record<string, RowReader<DatasetOptions>>>;
  /** The families of the source `procedural/<domain>`; demonstrations are made of these. */
  readonly families?: readonly Family[];
  /** Further sources of generated problems by their name in a recipe, each with the loader of its families. */
  readonly sources?: Readonly<Record<string, () => Promise<readonly Family[]>>>;
  /** Facts about the verifiers in verifiers.ts, which the contract suite covers (test/contract/verifiers.test.ts). */
  readonly verifiers: Readonly<Record<string, VerifierFacts>>;
}
