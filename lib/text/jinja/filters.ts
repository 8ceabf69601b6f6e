/** Filters of text and numbers; those of lists are in sequences.ts. Source: jinja2/filters.py of Jinja 3.1. */
import { splitLines } from "../../python/text.ts";
import { ownAttribute } from "./access.ts";
import { fixed, formatPercent } from "./formatting.ts";
import { dumps } from "./json.ts";
import { expectCharacters } from "./limits.ts";
import { SEQUENCE_FILTERS } from "./sequences.ts";
import * as strings from "./strings.ts";
import {
  type Arguments,
  floating,
  given,
  isFloat,
  isNumber,
  numeric,
  repr,
  str,
  TemplateFault,
  truth,
  tupleOf,
  typeName,
  Undefined,
  UnknownName,
  type Value,
} from "./values.ts";

type Filter = (v: Value, args: Arguments) => Value;

const argument = (args: Arguments, index: number, name: string): Value | undefined => {
  const value = given(args, index, name);
  return value === null ? undefined : value;
};

function numberOf(args: Arguments, index: number, name: string, otherwise: number): number {
  const value = argument(args, index, name) ?? otherwise;
  if (isNumber(value)) return numeric(value);
  throw new TemplateFault(`${name} is a ${typeName(value)}, expected a number`);
}

const onText =
  (change: (text: string) => string): Filter =>
  (v) =>
    change(str(v));

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};
const html = (text: string): string => text.replace(/[&<>"']/g, (c) => HTML[c]!);
const escaped = onText(html);

function orDefault(v: Value, args: Arguments): Value {
  const falsy = argument(args, 1, "boolean") === true && !truth(v);
  if (!(v instanceof Undefined) && !falsy) return v;
  const otherwise = given(args, 0, "default_value");
  return otherwise === undefined ? "" : otherwise;
}

/** Result of `int` and `float` for a value that is not a number; by default that type's 0. */
function fallback(args: Arguments, zero: Value): Value {
  const otherwise = given(args, 0, "default");
  return otherwise === undefined ? zero : otherwise;
}

function replace(v: Value, args: Arguments): Value {
  const [from, to] = [argument(args, 0, "old"), argument(args, 1, "new")];
  if (from === undefined || to === undefined) throw new TemplateFault("replace() is missing an argument");
  return strings.replace(str(v), str(from), str(to), numberOf(args, 2, "count", -1));
}

function trim(v: Value, args: Arguments): Value {
  const chars = argument(args, 0, "chars");
  return strings.strip(str(v), chars === undefined ? undefined : str(chars), true, true);
}

function toJson(v: Value, args: Arguments): Value {
  if (v instanceof Undefined) throw new TemplateFault("Object of type Undefined is not JSON serializable");
  const option = (name: string) => argument({ positional: [], named: args.named }, 0, name);
  const indent = argument(args, 0, "indent");
  const separators = option("separators");
  const [comma, colon] = Array.isArray(separators) ? separators.map(str) : [];
  return dumps(v, {
    ...(isNumber(indent ?? "") && { indent: numeric(indent as number) }),
    ...(comma !== undefined && colon !== undefined && { separators: [comma, colon] as const }),
    sortKeys: option("sort_keys") === true,
    ensureAscii: option("ensure_ascii") === true,
  });
}

function toInteger(v: Value, args: Arguments): Value {
  const otherwise = fallback(args, 0);
  const base = numberOf(args, 1, "base", 10);
  if (isNumber(v)) return Number.isFinite(numeric(v)) ? Math.trunc(numeric(v)) : otherwise;
  if (typeof v !== "string") return otherwise;
  const text = v.trim().replace(/_/g, "").toLowerCase();
  const prefix = base === 16 ? /^([-+]?)0x/ : base === 8 ? /^([-+]?)0o/ : base === 2 ? /^([-+]?)0b/ : /^$^/;
  const digits = text.replace(prefix, "$1");
  const allowed = "0123456789abcdefghijklmnopqrstuvwxyz".slice(0, base);
  if (new RegExp(`^[-+]?[${allowed}]+$`).test(digits)) return Number.parseInt(digits, base);
  const n = Number(v.trim() || "x");
  return Number.isFinite(n) && base === 10 ? Math.trunc(n) : otherwise;
}

function toFloat(v: Value, args: Arguments): Value {
  if (isNumber(v)) return floating(numeric(v));
  const n = typeof v === "string" && v.trim() !== "" ? Number(v.trim().replace(/_/g, "")) : Number.NaN;
  return Number.isNaN(n) ? fallback(args, floating(0)) : floating(n);
}

function round(v: Value, args: Arguments): Value {
  if (!isNumber(v)) throw new TemplateFault(`type ${typeName(v)} doesn't define __round__ method`);
  const precision = numberOf(args, 0, "precision", 0);
  const method = argument(args, 1, "method") ?? "common";
  const n = numeric(v);
  if (method === "common") {
    if (!isFloat(v) && precision >= 0) return n;
    const scale = 10 ** -precision;
    const rounded = precision >= 0 ? Number(fixed(n, precision)) : Number(fixed(n / scale, 0)) * scale;
    return isFloat(v) ? floating(rounded) : rounded;
  }
  const step = method === "ceil" ? Math.ceil : method === "floor" ? Math.floor : undefined;
  if (step === undefined) throw new TemplateFault("method must be common, ceil or floor");
  return floating(step(n * 10 ** precision) / 10 ** precision);
}

function absolute(v: Value): Value {
  if (!isNumber(v)) throw new TemplateFault(`bad operand type for abs(): '${typeName(v)}'`);
  return isFloat(v) ? floating(Math.abs(numeric(v))) : Math.abs(numeric(v));
}

function spaces(count: number): string {
  expectCharacters(count);
  return " ".repeat(Math.max(0, count));
}

function indent(v: Value, args: Arguments): Value {
  const width = argument(args, 0, "width") ?? 4;
  const pad = typeof width === "string" ? width : spaces(Number(width));
  const [first, blank] = [argument(args, 1, "first") === true, argument(args, 2, "blank") === true];
  const lines = splitLines(`${str(v)}\n`);
  const rest = lines.slice(1).map((line) => (line !== "" || blank ? pad + line : line));
  return (first ? pad : "") + strings.joined([lines[0] ?? "", ...rest], "\n");
}

function truncate(v: Value, args: Arguments): Value {
  const text = [...str(v)];
  const size = numberOf(args, 0, "length", 255);
  const end = [...str(argument(args, 2, "end") ?? "...")];
  if (text.length <= size + numberOf(args, 3, "leeway", 5)) return text.join("");
  const kept = text.slice(0, size - end.length).join("");
  if (argument(args, 1, "killwords") === true) return kept + end.join("");
  const space = kept.lastIndexOf(" ");
  return (space < 0 ? kept : kept.slice(0, space)) + end.join("");
}

/** Capitalises each word, with Jinja's word boundaries: at white space and before brackets. */
const title = onText((text) =>
  text
    .split(/([-\s({[<]+)/u)
    .map((part) => strings.capitalize(part))
    .join(""),
);

/** A dict as attributes of a tag, each after a space; omits those without a value. */
function xmlAttributes(v: Value, args: Arguments): Value {
  if (!(v instanceof Map)) throw new TemplateFault(`'${typeName(v)}' object has no attribute 'items'`);
  const text = [...v]
    .filter(([, value]) => value !== null && !(value instanceof Undefined))
    .map(([key, value]) => {
      if (/[ \t\n\r\f\v/>=]/.test(str(key)))
        throw new TemplateFault(`Invalid character in attribute name: ${repr(key)}`);
      return `${html(str(key))}="${html(str(value))}"`;
    })
    .join(" ");
  return text !== "" && argument(args, 0, "autospace") !== false ? ` ${text}` : text;
}

const TEXT_FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ["string", onText((text) => text)],
  ["safe", onText((text) => text)],
  ["upper", onText((text) => text.toUpperCase())],
  ["lower", onText((text) => text.toLowerCase())],
  ["capitalize", onText(strings.capitalize)],
  ["title", title],
  ["trim", trim],
  ["replace", replace],
  ["center", (v, args) => strings.align(str(v), numberOf(args, 0, "width", 80), " ", "both")],
  ["indent", indent],
  ["truncate", truncate],
  ["wordcount", (v) => (str(v).match(/[\p{L}\p{N}_]+/gu) ?? []).length],
  ["e", escaped],
  ["escape", escaped],
  ["forceescape", escaped],
  ["xmlattr", xmlAttributes],
  ["format", (v, { positional }) => formatPercent(str(v), tupleOf(positional))],
  [
    "urlencode",
    onText((text) =>
      encodeURIComponent(text)
        .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
        .replace(/%2F/g, "/"),
    ),
  ],
  ["tojson", toJson],
  ["default", orDefault],
  ["d", orDefault],
  ["int", toInteger],
  ["float", toFloat],
  ["round", round],
  ["abs", absolute],
  ["attr", (v, args) => ownAttribute(v, str(argument(args, 0, "name") ?? ""))],
]);

/** `v|name(...)`. Throws UnknownName for an unknown filter, TemplateFault for one that does not fit the value. */
export function applyFilter(name: string, v: Value, args: Arguments): Value {
  const filter = TEXT_FILTERS.get(name);
  if (filter !== undefined) return filter(v, args);
  const ofSequence = SEQUENCE_FILTERS.get(name);
  if (ofSequence === undefined) throw new UnknownName(`no filter named '${name}'`);
  return ofSequence(v, args, applyFilter);
}
