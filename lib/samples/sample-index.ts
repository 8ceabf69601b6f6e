import { join } from "node:path";
import { RUN_FILES } from "../metrics/index.ts";
import { IndexBuilder } from "./builder.ts";
import { IndexFile } from "./index-file.ts";
import { Journal } from "./journal.ts";
import { LiveRows } from "./live-rows.ts";
import type { Tables } from "./tables.ts";
import { Verdicts } from "./verdicts.ts";

/** Bytes of new journal after which the index is saved, so that indexing a long run survives a crash. */
const SAVE_BYTES = 1 << 30;

/**
 * Every completion of a run, without texts: tables that follow the journal, restored from a file beside it. Rows of
 * `members` are the completions that steps took, in that order; `live` are those in the run's history.
 */
export class SampleIndex {
  readonly dir: string;
  readonly #path: string;
  #file: IndexFile;
  #builder: IndexBuilder;
  #live: LiveRows;
  #verdicts: Verdicts;
  #version = 0;
  #updating: Promise<boolean> | undefined;

  private constructor(dir: string) {
    this.dir = dir;
    this.#path = join(dir, RUN_FILES.samples);
    this.#file = new IndexFile(this.#path);
    ({ builder: this.#builder, live: this.#live, verdicts: this.#verdicts } = around(this.#file));
  }

  /**
   * Opens the index of a run folder, created or updated.
   * Throws HONE_ERR_IO if there is no journal, HONE_ERR_FORMAT naming a damaged line of it.
   */
  static async open(dir: string): Promise<SampleIndex> {
    const index = new SampleIndex(dir);
    await index.update();
    index.save();
    return index;
  }

  get tables(): Tables {
    return this.#file.tables;
  }

  /** Names of domains and families, by the numbers in the tables. */
  get names(): readonly string[] {
    return this.#file.names;
  }

  /** Rows of `members` that belong to the run's history, because no later session discarded their steps. */
  get live(): Uint32Array {
    return this.#live.rows();
  }

  /** Verdicts by completion. */
  get verdicts(): Verdicts {
    return this.#verdicts;
  }

  /** Changes with each update that changed something. */
  get version(): number {
    return this.#version;
  }

  /** Reads new journal lines; returns whether there were any. Throws the errors of `open`. */
  update(): Promise<boolean> {
    this.#updating ??= this.#read().finally(() => {
      this.#updating = undefined;
    });
    return this.#updating;
  }

  /** Keeps the index for the next process, if the folder can be written. */
  save(): void {
    this.#file.save();
  }

  /** The journal, for texts; the caller closes it. */
  journal(): Promise<Journal> {
    return Journal.open(join(this.dir, RUN_FILES.verdicts));
  }

  async #read(): Promise<boolean> {
    await using journal = await this.journal();
    const { end, tail } = this.#file.covered;
    const known = end === 0 || (await journal.tail(end))?.equals(tail);
    if (!known) this.#beginAnew();
    try {
      const changed = await this.#follow(journal);
      if (changed || !known) this.#version += 1;
      return changed || !known;
    } catch (error) {
      this.#beginAnew(); // the tables may contain lines beyond the covered ones
      throw error;
    }
  }

  async #follow(journal: Journal): Promise<boolean> {
    const from = this.#file.covered.end;
    let saved = from;
    for await (const lines of journal.lines(from)) {
      for (const { line, at, size } of lines)
        if (!this.#builder.add(line, { at, size }))
          throw journal.damaged(at, "a line that refers to a problem or completion that no earlier line has");
      const last = lines.at(-1)!;
      const end = last.at + last.size + 1;
      this.#file.covered = { end, tail: (await journal.tail(end))! };
      if (end - saved < SAVE_BYTES) continue;
      this.save();
      saved = end;
    }
    return this.#file.covered.end > from;
  }

  /** Discards the tables and starts over, because the journal is not the one that was indexed. */
  #beginAnew(): void {
    this.#file = new IndexFile(this.#path, { fresh: true });
    ({ builder: this.#builder, live: this.#live, verdicts: this.#verdicts } = around(this.#file));
  }
}

const around = ({ tables, names }: IndexFile) => ({
  builder: new IndexBuilder(tables, names),
  live: new LiveRows(tables),
  verdicts: new Verdicts(tables.verdicts),
});
