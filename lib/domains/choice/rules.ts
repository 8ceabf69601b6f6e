/** The benchmark harness whose rules find the letter. */
export type Style = "gpqa" | "mmlu-pro";

/** Rules in which strict and reference judging differ. */
export interface Rules {
  /** The part of a completion that is read. */
  responseOf(completion: string): string;
  isBlank(response: string): boolean;
  /** The letter that a response chooses; undefined if it chooses none. May be a letter beyond the number of options. */
  letterOf(response: string, style: Style, choices: number): string | undefined;
}
