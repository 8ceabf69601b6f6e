import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { HoneError } from "../errors.ts";

export interface RowsBesideOptions<T> {
  /** Name of a case for messages: "logic case". */
  readonly what: string;
  /** The name of a row: "puzzle". */
  readonly noun: string;
  /** Required form of a line: "a puzzle { id, game_data }". */
  readonly shape: string;
  /** Returns the id and row of a line. For a line of another form, returns undefined or throws any error. */
  parse(line: string): readonly [id: string, row: T] | undefined;
}

/** Finds rows by id in files that lie beside a case file. Reads each file once. */
export class RowsBeside<T> {
  readonly #options: RowsBesideOptions<T>;
  readonly #files = new Map<string, Promise<ReadonlyMap<string, T>>>();

  constructor(options: RowsBesideOptions<T>) {
    this.#options = options;
  }

  /** The row of `file` (one JSON object a line) in `folder` that has this id. Throws HONE_ERR_DATA. */
  async find(folder: string, file: string, id: string): Promise<T> {
    const { what, noun } = this.#options;
    const path = join(folder, file);
    const reading = this.#files.get(path) ?? this.#read(path);
    this.#files.set(path, reading);
    const rows = await reading;
    if (rows.has(id)) return rows.get(id)!;
    throw new HoneError("HONE_ERR_DATA", `${what}: no ${noun} ${JSON.stringify(id)} in ${file}`, {
      details: { folder },
    });
  }

  async #read(path: string): Promise<ReadonlyMap<string, T>> {
    const { what, noun, shape } = this.#options;
    const text = await readFile(path, "utf8").catch((cause: unknown) => {
      throw new HoneError("HONE_ERR_DATA", `${what}: cannot read ${path}`, {
        cause,
        hint: `A case names its ${noun} by id; ${basename(path)} must lie beside the case file.`,
      });
    });
    const rows = new Map<string, T>();
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() === "") continue;
      const [id, row] = this.#parse(line, `${path}:${index + 1}: not ${shape}`);
      rows.set(id, row);
    }
    return rows;
  }

  #parse(line: string, complaint: string): readonly [id: string, row: T] {
    let cause: unknown;
    try {
      const found = this.#options.parse(line);
      if (found !== undefined) return found;
    } catch (error) {
      cause = error;
    }
    throw new HoneError("HONE_ERR_DATA", complaint, { cause });
  }
}
