import { width } from "./ansi.ts";
import { columnsOf, rowsOf, type Terminal } from "./terminal.ts";

/** Lines at the bottom of a terminal that are written over in place. */
export class LiveFrame {
  readonly #terminal: Terminal;
  /** Widths of the lines that stand. */
  #drawn: readonly number[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Columns there are now to write in. */
  get columns(): number {
    return columnsOf(this.#terminal);
  }

  /** Puts lines in place of those that stand. @param render given the columns of a line. */
  draw(render: (columns: number) => readonly string[]): void {
    // A line that fills the last column leaves some cursors in the next row; a frame as high as the screen scrolls.
    const rows = Math.max(1, rowsOf(this.#terminal) - 1);
    const lines = render(Math.max(1, this.columns - 1)).slice(0, rows);
    // One write, or a slow terminal shows half a frame.
    const frame = lines.map((line) => `${line}\u001b[K\n`).join("");
    this.#terminal.write(`${this.#up()}${frame}\u001b[J`);
    this.#drawn = lines.map(width);
  }

  erase(): void {
    if (this.#drawn.length > 0) this.#terminal.write(`${this.#up()}\u001b[J`);
    this.#drawn = [];
  }

  /** What stands stays as it is; the next frame begins below it. */
  leave(): void {
    this.#drawn = [];
  }

  /** Moves to where the frame begins; a terminal made narrower since has wrapped its lines. */
  #up(): string {
    const { columns } = this;
    const rows = this.#drawn.reduce((sum, wide) => sum + Math.max(1, Math.ceil(wide / columns)), 0);
    return rows > 0 ? `\u001b[${rows}A` : "";
  }
}
