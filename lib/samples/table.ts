const ARRAYS = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array } as const;

/** Column names and types. */
export type Schema = Readonly<Record<string, keyof typeof ARRAYS>>;
type Row<S extends Schema> = { readonly [K in keyof S]: number };
type Column = Uint8Array | Uint32Array | Float64Array;

const FIRST_ROWS = 1024;
/** Columns begin at multiples of this many bytes, as typed arrays require. */
const ALIGNMENT = 8;

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Rows of numbers, each column a typed array that grows. Read columns anew after every push: growing replaces them. */
export class Table<S extends Schema> {
  readonly #schema: S;
  readonly columns: { [K in keyof S]: Column };
  #rows = 0;
  #room = 0;

  constructor(schema: S) {
    this.#schema = schema;
    this.columns = {} as { [K in keyof S]: Column };
    this.reserve(FIRST_ROWS);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Allocates memory so that the table can hold `rows` rows in all. */
  reserve(rows: number): void {
    if (rows <= this.#room) return;
    this.#room = rows;
    for (const [name, kind] of Object.entries(this.#schema)) {
      const grown = new ARRAYS[kind](rows);
      const old = this.columns[name];
      if (old !== undefined) grown.set(old.subarray(0, this.#rows));
      (this.columns as Record<string, Column>)[name] = grown;
    }
  }

  /** Returns the row's number. @param shared columns that many rows have in common, passed without copying */
  push<P extends Partial<Row<S>>>(own: Omit<Row<S>, keyof P>, shared?: P): number {
    if (this.#rows === this.#room) this.reserve(2 * this.#room);
    this.#put(own as Partial<Row<S>>);
    if (shared !== undefined) this.#put(shared);
    this.#rows += 1;
    return this.#rows - 1;
  }

  #put(values: Partial<Row<S>>): void {
    const { columns } = this;
    for (const name in values) columns[name]![this.#rows] = values[name]!;
  }

  /** Bytes that `encode` returns for this many rows. */
  bytesOf(rows: number): number {
    return Object.values(this.#schema).reduce(
      (sum, kind) => sum + aligned(rows * ARRAYS[kind].BYTES_PER_ELEMENT),
      0,
    );
  }

  /** The rows from `first` on, column by column, in this machine's byte order: views, valid until a row is added. */
  encode(first: number): Uint8Array[] {
    return Object.keys(this.#schema).flatMap((name) => {
      const { buffer, byteOffset, byteLength } = this.columns[name]!.subarray(first, this.#rows);
      const padding = new Uint8Array(aligned(byteLength) - byteLength);
      return [new Uint8Array(buffer, byteOffset, byteLength), padding];
    });
  }

  /** Appends rows encoded by `encode`. @param bytes aligned to 8 in its buffer */
  append(bytes: Uint8Array<ArrayBuffer>, rows: number): void {
    const wanted = this.#rows + rows;
    this.reserve(wanted > this.#room && this.#rows > 0 ? Math.max(wanted, 2 * this.#room) : wanted);
    let at = bytes.byteOffset;
    for (const [name, kind] of Object.entries(this.#schema)) {
      const column = new ARRAYS[kind](bytes.buffer, at, rows);
      this.columns[name]!.set(column, this.#rows);
      at += aligned(column.byteLength);
    }
    this.#rows += rows;
  }
}
