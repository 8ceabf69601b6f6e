/**
 * Characters that a screen may interpret, hide or reorder: controls, formats, lone surrogates, private and unassigned
 * characters.
 */
const UNSAFE = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu;
/** Matches runs of combining marks, which a screen draws over the lines above. */
const PILED = /(\p{M}{4})(\p{M}+)/gu;
/** Replacement of a tab, whose width would depend on its column. */
const TAB = "    ";

/**
 * Untrusted text made safe for any screen: characters that would be interpreted or change the reading order are
 * escaped, `\x1b`, `\u202e`, `\u{e0041}`; keeps at most four stacked combining marks. Line ends stay, tabs become
 * spaces.
 */
export const visibleText = (text: string): string =>
  text.replaceAll("\t", TAB).replace(UNSAFE, spelled).replace(PILED, "$1…");

/** JSON with the same meaning that displays the same everywhere: escapes characters that a screen may interpret. */
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
