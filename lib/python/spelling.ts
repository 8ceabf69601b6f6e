import type { PythonValue } from "./value.ts";

/** Python's spelling of values. Source: The Python Standard Library, "Built-in Functions": repr, str. */

/** str(value) */
export const strOf = (value: PythonValue): string => (value.type === "str" ? value.value : reprOf(value));

/** repr(value) */
export function reprOf(value: PythonValue): string {
  switch (value.type) {
    case "NoneType":
      return constantRepr(null);
    case "bool":
      return constantRepr(value.value);
    case "str":
      return textRepr(value.value);
    case "float":
      return floatRepr(value.value);
    case "list":
      return `[${value.items.map(reprOf).join(", ")}]`;
    case "tuple":
      return `(${value.items.map(reprOf).join(", ")}${value.items.length === 1 ? "," : ""})`;
    case "dict":
      return `{${value.entries.map(([key, item]) => `${reprOf(key)}: ${reprOf(item)}`).join(", ")}}`;
    case "set":
      return value.items.length === 0 ? "set()" : `{${value.items.map(reprOf).join(", ")}}`;
    case "int":
      return value.value.toString();
    case "bytes":
      return `b${textRepr(value.value).replace(/[\x80-\xff]/g, (byte) => hexEscape(byte.charCodeAt(0)))}`;
    case "complex":
      return complexRepr(value.real, value.imaginary);
    case "ellipsis":
      return "Ellipsis";
  }
}

function complexRepr(real: number, imaginary: number): string {
  const [left, right] = [real, imaginary].map((part) => floatRepr(part).replace(/\.0$/, ""));
  if (Object.is(real, 0)) return `${right}j`;
  return `(${left}${/^[-]/.test(right!) ? "" : "+"}${right}j)`;
}

/** repr of None, True and False. */
export function constantRepr(value: null | boolean): string {
  if (value === null) return "None";
  return value ? "True" : "False";
}

/** repr(float): the shortest digits that give the number back, in Python's layout. */
export function floatRepr(n: number): string {
  if (!Number.isFinite(n)) return Number.isNaN(n) ? "nan" : n > 0 ? "inf" : "-inf";
  if (n === 0) return Object.is(n, -0) ? "-0.0" : "0.0";
  const [digits, exponent] = n.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const plain = power < 0 ? n.toFixed(Math.max(0, digits.replace(/^-?\d\.?/, "").length - power)) : String(n);
  return plain.includes(".") ? plain : `${plain}.0`;
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

/** repr(str): in single quotes, unless only single quotes are inside. */
export function textRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\\n\r\t'"]|[^ -~]/gu, (c) => {
    if (c === quote) return `\\${c}`;
    if (c === "'" || c === '"') return c;
    return ESCAPES[c] ?? (/[\p{C}\p{Z}]/u.test(c) ? hexEscape(c.codePointAt(0)!) : c);
  });
  return quote + body + quote;
}

function hexEscape(code: number): string {
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code <= 0xffff
    ? `\\u${code.toString(16).padStart(4, "0")}`
    : `\\U${code.toString(16).padStart(8, "0")}`;
}
