import { width } from "./ansi.ts";
import { columnsOf, rowsOf, type Terminal } from "./terminal.ts";

/** Lines at the bottom of a terminal that are overwritten in place. */
export class LiveFrame {
  readonly #terminal: Terminal;
  /** Widths of the lines on the screen. */
  #drawn: readonly number[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Columns available now. */
  get columns(): number {
    return columnsOf(this.#terminal);
  }

  /** Replaces the lines on the screen. @param render gets the columns of a line. */
  draw(render: (columns: number) => readonly string[]): void {
    // A line that fills the last column leaves some cursors in the next row; a frame as high as the screen scrolls.
    const rows = Math.max(1, rowsOf(this.#terminal) - 1);
    const lines = render(Math.max(1, this.columns - 1)).slice(0, rows);
    // Writes a frame by one call, since a slow terminal would otherwise show half of it.
    const frame = lines.map((line) => `${line}\u001b[K\n`).join("");
    this.#terminal.write(`${this.#up()}${frame}\u001b[J`);
    this.#drawn = lines.map(width);
  }

  erase(): void {
    if (this.#drawn.length > 0) this.#terminal.write(`${this.#up()}\u001b[J`);
    this.#drawn = [];
  }

  /** Leaves the lines on the screen; the next frame begins below them. */
  leave(): void {
    this.#drawn = [];
  }

  /** Moves to the beginning of the frame; if the terminal was made narrower, its lines have wrapped. */
  #up(): string {
    const { columns } = this;
    const rows = this.#drawn.reduce((sum, wide) => sum + Math.max(1, Math.ceil(wide / columns)), 0);
    return rows > 0 ? `\u001b[${rows}A` : "";
  }
}
