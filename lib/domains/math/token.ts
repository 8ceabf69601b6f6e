/** Input that is not an expression of the answer grammar. */
export class SyntaxFault extends Error {}

/** `kind` decides the grammar; `text` is the value (digits, letter, symbol name) or the spelling. */
export interface Token {
  readonly kind: string;
  readonly text: string;
  /** The text between the braces of an accent (`\text{..}`, `\vec{..}`). */
  readonly body?: string;
}
