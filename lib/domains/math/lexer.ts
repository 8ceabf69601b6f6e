import { SyntaxFault, type Token } from "./token.ts";
import { COMMANDS, LONGEST_COMMAND, RESERVED_WORDS, UNICODE } from "./vocabulary.ts";

const NUMBER = /(?:\d*\.)?\d+/y;
const EXPONENT = /E[+-]?\d+/y;
const PERCENT = /[ \t\r\n]?(?:\\%|%)/y;
const DEGREE = /\^(?:\\circle|\\circ|\\degree|°|\{\\circle\}|\{\\circ\}|\{\\degree\}|\{°\})/y;
const TRANSPOSE = /\^(?:T|\{T\}|\\top|\{\\top\})/y;
const ACCENT_BODY = /[ \t\r\n]?\{((?:\\\}|[^}])*?)\}/y;
const ENVIRONMENT = /\\(begin|end)\{([pbv]?matrix|array)\}(?:\{[clr]*\})?/y;
const OPERATOR_NAME = /\\operatorname\*?[ \t\r\n]*\{\s*([A-Za-z]+)\s*\}/y;
const WHITE = /[ \t\r\n]+/y;

/**
 * Splits normalised LaTeX into tokens in one pass, longest known spelling first. Throws SyntaxFault. Strict reads
 * `tr` and `lcm` as products of letters, and `dx` as a differential only in integrals.
 */
export function tokenize(text: string, strict: boolean): Token[] {
  const tokens: Token[] = [];
  const letters = { reserved: !strict, differentials: !strict || text.includes("\\int") };
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    const c = text[at]!;
    if (take(WHITE)) continue;
    if ((c >= "0" && c <= "9") || c === ".") tokens.push(numberToken(at, take));
    else if (c === "\\") tokens.push(...commandToken(text, at, take, (n) => (at += n)));
    else if (c === "^") {
      if (take(DEGREE)) tokens.push({ kind: "degree", text: "°" });
      else if (take(TRANSPOSE)) tokens.push({ kind: "transpose", text: "T" });
      else {
        at++;
        tokens.push({ kind: "^", text: "^" });
      }
    } else if (isLetter(c)) {
      const token = letterToken(text, at, letters);
      at += token.length;
      tokens.push(token);
    } else {
      const token = signToken(text, at);
      at += token.length;
      tokens.push(token);
    }
  }
  return tokens;
}

const isLetter = (c: string) => (c >= "a" && c <= "z") || (c >= "A" && c <= "Z");

function numberToken(at: number, take: (p: RegExp) => RegExpExecArray | null): Token {
  const digits = take(NUMBER)?.[0];
  if (digits === undefined) throw new SyntaxFault(`stray "." at ${at}`);
  const exponent = take(EXPONENT)?.[0];
  if (exponent !== undefined) return { kind: "scientific", text: `${digits}${exponent}` };
  return { kind: take(PERCENT) ? "percent" : "number", text: digits };
}

/** Reads a reserved word, `dx`, or one letter. */
function letterToken(
  text: string,
  at: number,
  { reserved, differentials }: { reserved: boolean; differentials: boolean },
): Token & { length: number } {
  const word = reserved ? RESERVED_WORDS.find((w) => text.startsWith(w, at)) : undefined;
  if (word !== undefined) return { kind: "reserved", text: word, length: word.length };
  const c = text[at]!;
  if (differentials && c === "d") {
    let next = at + 1;
    while (next < text.length && (text[next] === " " || text[next] === "\t")) next++;
    if (next < text.length && isLetter(text[next]!)) {
      return { kind: "differential", text: text[next]!, length: next + 1 - at };
    }
  }
  if (c === "e") return { kind: "e", text: "e", length: 1 };
  return { kind: "letter", text: c, length: 1 };
}

const SIGNS = ["!==", "<->", "<=>", "~=", "==", "<=", ">=", "!=", ..."+-*/()[]{}|_,;:!=<>&"];

function signToken(text: string, at: number): Token & { length: number } {
  const sign = SIGNS.find((s) => text.startsWith(s, at));
  if (sign !== undefined) {
    const kind = { "!==": "!=", "==": "=", "~=": "approx" }[sign] ?? sign;
    return { kind, text: sign, length: sign.length };
  }
  const c = String.fromCodePoint(text.codePointAt(at)!);
  const known = UNICODE.get(c);
  if (known === undefined) throw new SyntaxFault(`unexpected ${JSON.stringify(c)} at ${at}`);
  return { ...known, length: c.length };
}

function commandToken(
  text: string,
  at: number,
  take: (p: RegExp) => RegExpExecArray | null,
  skip: (n: number) => void,
): Token[] {
  const environment = take(ENVIRONMENT);
  if (environment) return [{ kind: environment[1]!, text: environment[2]! }];
  const operator = take(OPERATOR_NAME);
  if (operator) return [{ kind: "operator", text: operator[1]! }];
  for (let n = Math.min(LONGEST_COMMAND, text.length - at); n >= 2; n--) {
    const entry = COMMANDS.get(text.slice(at, at + n));
    if (entry === undefined) continue;
    if (entry.kind === "accent") {
      skip(n);
      const body = take(ACCENT_BODY);
      if (!body) throw new SyntaxFault(`${entry.text} without {}`);
      return [{ ...entry, body: body[1]! }];
    }
    skip(n);
    return entry.kind === "skip" ? [] : [entry];
  }
  throw new SyntaxFault(`unknown command ${text.slice(at, at + 12)}`);
}
