const NO_WORD = /[^\p{L}\p{M}\p{N}]+/gu;

/** A text without non-word characters, in lower case, with single spaces. */
export const bareWords = (text: string): string => text.toLowerCase().replace(NO_WORD, " ").trim();

/** True if `right` is a word different from `left`, ignoring case and marks. */
export const isOtherWord = (left: string, right: string): boolean =>
  bareWords(right) !== "" && bareWords(right) !== bareWords(left);
