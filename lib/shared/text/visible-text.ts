/** What a screen may act on, hide or draw backwards: controls, formats, lone surrogates, private and unassigned characters. */
const UNSAFE = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu;
/** Marks that pile up over the lines above. */
const PILED = /(\p{M}{4})(\p{M}+)/gu;
/** Columns of a tab, whose width would depend on where it stands. */
const TAB = "    ";

/**
 * Untrusted text made safe for any screen: what would act on it or change the order of what is read is
 * spelled, `\x1b`, `\u202e`, `\u{e0041}`; of marks that pile up four are left. Line ends stay, tabs become spaces.
 */
export const visibleText = (text: string): string =>
  text.replaceAll("\t", TAB).replace(UNSAFE, spelled).replace(PILED, "$1…");

/** JSON that means the same and shows the same everywhere: what a screen may act on is escaped as JSON does it. */
export const visibleJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(UNSAFE, (character) =>
    Array.from({ length: character.length }, (_, i) => `\\u${hex(character.charCodeAt(i), 4)}`).join(""),
  );

function spelled(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x100) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 1)}}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");
