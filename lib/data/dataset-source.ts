import { HoneError } from "../errors.ts";
import { CounterRandom } from "../random.ts";
import type { DomainName, Problem } from "../records.ts";
import type { DatasetReport } from "./census.ts";
import { type Purpose, problemId } from "./problem-id.ts";
import type { ProblemSource, SourceOptions } from "./problem-source.ts";
import { ProblemStore } from "./problem-store.ts";
import { type Admission, asked, RowFilter } from "./row-filter.ts";
import type { DatasetOptions, RowReader } from "./row-reader.ts";

/** Keeps the order of rows apart from every other draw of a run. */
const ORDER_WORD = 0x4f524400;

type Body = ReturnType<typeof asked>;

/**
 * A data set in memory. Training goes through all of its rows in an order of the seed, then again in another;
 * the held-out rows come in an order of their content, the same for every seed: the first n of them are a fair sample.
 */
export class DatasetSource implements ProblemSource {
  readonly domain: DomainName;
  readonly families: readonly string[];
  readonly report: DatasetReport;
  readonly heldOutCount: number;
  readonly heldOutKeys: readonly string[];
  /** Bytes the rows take, outside the heap. */
  readonly bytes: number;
  readonly #name: string;
  readonly #verifier: string;
  readonly #options: SourceOptions;
  readonly #store: ProblemStore;
  readonly #training: readonly number[];
  readonly #heldOut: readonly number[];
  #order: { readonly epoch: number; readonly rows: Uint32Array } | undefined;

  private constructor(
    name: string,
    reader: RowReader<DatasetOptions>,
    options: SourceOptions,
    rows: LoadedRows & { readonly report: DatasetReport },
  ) {
    this.#name = name;
    this.domain = reader.domain;
    this.#verifier = reader.verifier;
    this.#options = options;
    this.#store = rows.store;
    this.#training = rows.training;
    this.#heldOut = rows.heldOut;
    this.families = rows.families;
    this.report = rows.report;
    this.heldOutCount = rows.heldOut.length;
    this.heldOutKeys = rows.heldOutKeys;
    this.bytes = rows.store.bytes;
  }

  /** Throws HONE_ERR_DATA when a file is missing or damaged, or no row is left. */
  static async load(
    kind: string,
    reader: RowReader<DatasetOptions>,
    options: DatasetOptions,
    source: SourceOptions,
    admit?: Admission,
  ): Promise<DatasetSource> {
    const { heldOut, elsewhere } = source;
    const filter = new RowFilter(kind, reader, options, { admit, heldOut, elsewhere });
    const rows = await loadRows(filter);
    const report = filter.report();
    if (rows.store.length === 0) {
      throw new HoneError("HONE_ERR_DATA", `${kind}: none of ${report.rows} rows can be used`, {
        hint: "hone data check says why.",
        details: { report },
      });
    }
    return new DatasetSource(kind, reader, source, { ...rows, report });
  }

  /** Throws HONE_ERR_CONFIG where there is nothing to train on: a benchmark. */
  problem(index: number): Problem {
    const rows = this.#training.length;
    if (rows === 0) {
      throw new HoneError("HONE_ERR_CONFIG", `${this.#name} has no rows to train on`, {
        hint: "Benchmarks are for evaluation only.",
      });
    }
    const row = this.#orderOf(Math.floor(index / rows))[index % rows]!;
    return this.#make("train", index, row);
  }

  heldOut(index: number): Problem {
    if (this.#heldOut.length === 0) {
      throw new HoneError("HONE_ERR_DATA", `${this.#name} has no held-out row among ${this.#store.length}`);
    }
    return this.#make("held-out", index, this.#heldOut[index % this.#heldOut.length]!);
  }

  /** Training rows shuffled for one pass. A run asks for passes one after another. */
  #orderOf(epoch: number): Uint32Array {
    if (this.#order?.epoch !== epoch) {
      const random = new CounterRandom(this.#options.seed, epoch, ORDER_WORD + this.#options.ordinal);
      this.#order = { epoch, rows: Uint32Array.from(random.shuffle(this.#training)) };
    }
    return this.#order.rows;
  }

  #make(purpose: Purpose, index: number, row: number): Problem {
    const body = this.#store.at(row) as Body;
    const id = problemId(purpose, this.#options.ordinal, index);
    return { id, domain: this.domain, verifier: this.#verifier, ...body };
  }
}

interface LoadedRows {
  readonly store: ProblemStore;
  readonly training: readonly number[];
  readonly heldOut: readonly number[];
  readonly heldOutKeys: readonly string[];
  readonly families: readonly string[];
}

async function loadRows(filter: RowFilter): Promise<LoadedRows> {
  const store = new ProblemStore();
  const keys: string[] = [];
  const families = new Set<string>();
  for await (const row of filter.rows()) {
    keys.push(row.key);
    families.add(row.family);
    store.add(asked(row));
  }
  const rows = keys.map((_, row) => row);
  const isHeldOut = (row: number) => filter.heldOut.has(keys[row]!);
  const heldOut = rows.filter(isHeldOut).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
  return {
    store,
    training: rows.filter((row) => !isHeldOut(row)),
    heldOut,
    heldOutKeys: heldOut.map((row) => keys[row]!),
    families: [...families].sort(),
  };
}
