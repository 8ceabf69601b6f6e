const NO_WORD = /[^\p{L}\p{M}\p{N}]+/gu;

/** A text without what is no word in it, in lower case, one space between two words. */
export const bareWords = (text: string): string => text.toLowerCase().replace(NO_WORD, " ").trim();

/** Whether `right` is a word, and another one than `left`: not the same in other letters' case or with other marks. */
export const isOtherWord = (left: string, right: string): boolean =>
  bareWords(right) !== "" && bareWords(right) !== bareWords(left);
