/** How a benchmark's harness looks for the letter. */
export type Style = "gpqa" | "mmlu-pro";

/** Where strict and reference judging differ. */
export interface Rules {
  /** The part of a completion that is read. */
  responseOf(completion: string): string;
  /** Whether a response says nothing. */
  isBlank(response: string): boolean;
  /** The letter that a response chooses of so many; undefined where it chooses none. One beyond them may be chosen too. */
  letterOf(response: string, style: Style, choices: number): string | undefined;
}
