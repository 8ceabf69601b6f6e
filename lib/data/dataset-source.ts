import { HoneError } from "../errors.ts";
import { CounterRandom } from "../random.ts";
import type { DomainName, Problem } from "../records.ts";
import { counted, type DatasetReport } from "./census.ts";
import { type Purpose, partsOf, problemId } from "./problem-id.ts";
import type { ProblemSource, SourceOptions } from "./problem-source.ts";
import { RowFilter } from "./row-filter.ts";
import type { Admission } from "./row-judge.ts";
import type { DatasetOptions, RowReader } from "./row-reader.ts";
import { RowStore } from "./row-store.ts";
import type { OpenRowThreads } from "./row-threads.ts";

/** Separates the random order of rows from every other random draw of a run. */
const ORDER_WORD = 0x4f524400;
/** Separates the draws of single rows from every other random draw of a run. */
const DRAW_WORD = 0x44524100;

/**
 * A data set on disk or in memory. Training visits all rows in an order drawn from the seed, then again in another
 * order, or draws each problem from all rows (DatasetOptions.draw). Held-out rows are ordered by content, independent
 * of the seed: the first n of them are an unbiased sample.
 */
export class DatasetSource implements ProblemSource {
  readonly domain: DomainName;
  readonly families: readonly string[];
  readonly report: DatasetReport;
  readonly heldOutCount: number;
  readonly trainingCount?: number;
  /** Bytes the rows take, outside the heap. */
  readonly bytes: number;
  readonly #name: string;
  readonly #verifier: string;
  readonly #options: SourceOptions;
  readonly #isUniform: boolean;
  readonly #store: RowStore;
  readonly #training: Uint32Array;
  readonly #heldOut: Uint32Array;
  readonly #keys: () => readonly string[];
  /** Orders of the last two passes: groups of one pass are judged while the next pass begins. */
  #orders: readonly { readonly epoch: number; readonly rows: Uint32Array }[] = [];

  private constructor(
    name: string,
    reader: RowReader<DatasetOptions>,
    options: SourceOptions,
    rows: LoadedRows & { readonly report: DatasetReport; readonly draw: DatasetOptions["draw"] },
  ) {
    this.#name = name;
    this.domain = reader.domain;
    this.#verifier = reader.verifier;
    this.#options = options;
    this.#isUniform = rows.draw === "uniform";
    this.#store = rows.store;
    this.#training = rows.training;
    this.#heldOut = rows.heldOut;
    this.families = rows.families;
    this.report = rows.report;
    this.heldOutCount = rows.heldOut.length;
    this.#keys = rows.heldOutKeys;
    if (options.byPlace) this.trainingCount = rows.training.length;
    this.bytes = rows.store.bytes;
  }

  /** Throws HONE_ERR_DATA when a file is missing or damaged, or no row is left. */
  static async load(
    kind: string,
    reader: RowReader<DatasetOptions>,
    options: DatasetOptions,
    source: SourceOptions,
    { admit, openThreads = () => [] }: LoadOptions = {},
  ): Promise<DatasetSource> {
    const { heldOut, elsewhere } = source;
    const filter = new RowFilter(kind, reader, options, { admit, heldOut, elsewhere });
    const store = new RowStore(reader.open(options), filter.hashes);
    const rows = await loadRows(filter, store, openThreads);
    const report: DatasetReport = { ...filter.report(), ...(source.hub && { hub: source.hub }) };
    if (rows.store.length === 0) {
      const why = report.rows === 0 ? "" : `: ${filter.census.refusals().join("; ")}`;
      throw new HoneError(
        "HONE_ERR_DATA",
        `${kind}: none of ${counted(report.rows, "row")} can be used${why}`,
        {
          hint: "docs/reference/data.md has the columns of every kind; hone data check counts all reasons.",
          details: { report },
        },
      );
    }
    return new DatasetSource(kind, reader, source, { ...rows, report, draw: options.draw });
  }

  /** Built on demand: a hundred thousand keys would occupy 8 MB permanently. */
  get heldOutKeys(): readonly string[] {
    return this.#keys();
  }

  /** Throws HONE_ERR_CONFIG if there are no training rows, as in a benchmark. */
  problem(index: number): Problem {
    const rows = this.#training.length;
    if (rows === 0) {
      throw new HoneError("HONE_ERR_CONFIG", `${this.#name} has no rows to train on`, {
        hint: "Benchmarks are for evaluation only.",
      });
    }
    return this.#make("train", index, this.#trainingRow(index));
  }

  placeOf(id: number): string | undefined {
    const { purpose, index } = partsOf(id);
    const isHeld = purpose === "held-out";
    if ((isHeld ? this.#heldOut : this.#training).length === 0) return undefined;
    return this.#store.placeOf(
      isHeld ? this.#heldOut[index % this.#heldOut.length]! : this.#trainingRow(index),
    );
  }

  #trainingRow(index: number): number {
    const rows = this.#training.length;
    if (this.#options.byPlace) return this.#training[index % rows]!;
    if (this.#isUniform) {
      const { seed, ordinal } = this.#options;
      return new CounterRandom(seed, index, DRAW_WORD + ordinal).choice(this.#training);
    }
    return this.#orderOf(Math.floor(index / rows))[index % rows]!;
  }

  heldOut(index: number): Problem {
    if (this.#heldOut.length === 0) {
      throw new HoneError("HONE_ERR_DATA", `${this.#name} has no held-out row among ${this.#store.length}`);
    }
    return this.#make("held-out", index, this.#heldOut[index % this.#heldOut.length]!);
  }

  /** Training rows shuffled for one pass. A run requests passes in sequence. */
  #orderOf(epoch: number): Uint32Array {
    const known = this.#orders.find((order) => order.epoch === epoch);
    if (known !== undefined) return known.rows;
    const random = new CounterRandom(this.#options.seed, epoch, ORDER_WORD + this.#options.ordinal);
    const rows = random.shuffleNumbers(this.#training.slice());
    this.#orders = [{ epoch, rows }, ...this.#orders.slice(0, 1)];
    return rows;
  }

  #make(purpose: Purpose, index: number, row: number): Problem {
    const body = this.#store.at(row);
    const id = problemId(purpose, this.#options.ordinal, index);
    return { id, domain: this.domain, verifier: this.#verifier, ...body };
  }
}

interface LoadOptions {
  readonly admit?: Admission | undefined;
  /** Opens threads that judge rows by the same reader, options and admission as this thread. */
  readonly openThreads?: OpenRowThreads | undefined;
}

interface LoadedRows {
  readonly store: RowStore;
  readonly training: Uint32Array;
  readonly heldOut: Uint32Array;
  readonly heldOutKeys: () => readonly string[];
  readonly families: readonly string[];
}

async function loadRows(
  filter: RowFilter,
  store: RowStore,
  openThreads: OpenRowThreads,
): Promise<LoadedRows> {
  const families = new Set<string>();
  for await (const batch of filter.stored(openThreads)) {
    for (const row of batch) {
      families.add(row.family);
      store.add(row);
    }
  }
  const { held } = filter;
  const order = held.byKey();
  const heldOut = order.map((at) => held.row(at));
  const isHeld = new Uint8Array(store.length);
  for (const row of heldOut) isHeld[row] = 1;
  const training = new Uint32Array(store.length - held.length);
  let next = 0;
  for (let row = 0; row < store.length; row++) if (isHeld[row] === 0) training[next++] = row;
  return {
    store,
    training,
    heldOut,
    heldOutKeys: () => Array.from(order, (at) => held.key(at)),
    families: [...families].sort(),
  };
}
