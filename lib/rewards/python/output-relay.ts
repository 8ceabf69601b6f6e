/** Characters shown per call, so that a function that prints endlessly does not fill the terminal or log. */
const MOST_SHOWN = 1 << 16;
const LONGEST_LINE = 4096;
const LONGEST_LAST = 300;

/** Passes on what a process prints, line by line, each with the name of the user's file in front. */
export class OutputRelay {
  readonly #name: string;
  readonly #print: (text: string) => void;
  #rest = "";
  #shown = 0;
  #last = "";

  constructor(name: string, print: (text: string) => void) {
    this.#name = name;
    this.#print = print;
  }

  /** The last non-blank line, truncated. */
  get lastLine(): string {
    return this.#last;
  }

  /** Begins a call, which may show MOST_SHOWN characters again. */
  begin(): void {
    this.#shown = 0;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line);
    if (this.#rest.length > LONGEST_LINE) this.end();
  }

  /** Passes on an incomplete last line. */
  end(): void {
    if (this.#rest !== "") this.#line(this.#rest);
    this.#rest = "";
  }

  #line(line: string): void {
    if (line.trim() !== "") this.#last = line.trim().slice(-LONGEST_LAST);
    if (this.#shown >= MOST_SHOWN) return;
    this.#shown += line.length + 1;
    this.#print(`${this.#name}: ${line}\n`);
    if (this.#shown >= MOST_SHOWN)
      this.#print(`${this.#name}: (the rest that this call prints is left out)\n`);
  }
}
