import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileWork, writeWhole } from "../metrics/index.ts";
import type { CompletionTable } from "./completions.ts";

/** A reference to a table in W&B's history, by the file that contains the table. */
export interface TableFile {
  readonly _type: "table-file";
  /** Path of the table's file, relative to the run's folder of files. */
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  readonly ncols: number;
  readonly nrows: number;
}

const MEDIA = "media/table";
const NAME = /^completions_(\d+)_[0-9a-f]{20}\.table\.json$/;

/**
 * Tables of completions among the files of an offline run, at most one per step. Source:
 * wandb/sdk/data_types/table.py.
 */
export class WandbTables {
  readonly #folder: string;

  /** @param files the run's folder of files. */
  constructor(files: string) {
    this.#folder = join(files, MEDIA);
  }

  /** Throws HONE_ERR_IO naming the file. */
  add(step: number, { columns, data }: CompletionTable): TableFile {
    const text = JSON.stringify({ columns, data });
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 20);
    const path = join(this.#folder, `completions_${step}_${hash}.table.json`);
    writeWhole(path, text);
    return this.#read(path);
  }

  /** The tables that an earlier session wrote, by step; those from `step` on, which is trained again, are deleted. */
  before(step: number): Map<number, TableFile> {
    const kept = new Map<number, TableFile>();
    const names = existsSync(this.#folder) ? readdirSync(this.#folder) : [];
    for (const name of names) {
      const of = Number(NAME.exec(name)?.[1]);
      const path = join(this.#folder, name);
      if (of < step) kept.set(of, this.#read(path));
      else if (of >= step) rmSync(path);
    }
    return kept;
  }

  #read(path: string): TableFile {
    const bytes = fileWork(path, () => readFileSync(path));
    const { columns, data } = JSON.parse(bytes.toString()) as CompletionTable;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const name = `${MEDIA}/${path.slice(this.#folder.length + 1)}`;
    return {
      _type: "table-file",
      path: name,
      sha256,
      size: bytes.length,
      ncols: columns.length,
      nrows: data.length,
    };
  }
}
