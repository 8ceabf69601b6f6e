/** Methods of Python's str, dict, list and tuple that a sandboxed template may call. */
import { splitLines } from "../../python/text.ts";
import { formatBraces } from "./formatting.ts";
import * as strings from "./strings.ts";
import {
  type Arguments,
  Callable,
  equals,
  isInteger,
  iterate,
  TemplateFault,
  tupleOf,
  typeName,
  type Value,
} from "./values.ts";

type Method<T> = (self: T, args: Arguments) => Value;

function text(args: Arguments, index: number): string {
  const value = args.positional[index];
  if (typeof value === "string") return value;
  throw new TemplateFault(`a str is needed, not ${value === undefined ? "nothing" : typeName(value)}`);
}

function optionalText(args: Arguments, index: number, name = ""): string | undefined {
  const value = args.positional[index] ?? args.named.get(name);
  return value === undefined || value === null ? undefined : strings.mustBeText(value);
}

function count(args: Arguments, index: number, name: string, otherwise: number): number {
  const value = args.positional[index] ?? args.named.get(name) ?? otherwise;
  if (isInteger(value) || typeof value === "boolean") return Number(value);
  throw new TemplateFault(`'${typeName(value)}' object cannot be interpreted as an integer`);
}

const changing =
  (change: (text: string) => string): Method<string> =>
  (self) =>
    change(self);
const asking =
  (pattern: RegExp): Method<string> =>
  (self) =>
    pattern.test(self);
const stripping =
  (left: boolean, right: boolean): Method<string> =>
  (self, args) =>
    strings.strip(self, optionalText(args, 0), left, right);

/** The optional start and end of str.find, count, startswith and similar, in code points. */
function part(self: string, args: Arguments): { readonly text: string; readonly offset: number } {
  const [begin, end] = [args.positional[1], args.positional[2]];
  if (begin === undefined || begin === null) return { text: self, offset: 0 };
  const all = [...self];
  const bound = (v: Value | undefined, otherwise: number) =>
    isInteger(v ?? null) ? (v as number) : otherwise;
  const from = bound(begin, 0);
  const offset = Math.min(all.length, from < 0 ? Math.max(0, from + all.length) : from);
  return { text: all.slice(offset, bound(end, all.length)).join(""), offset };
}

const affixed =
  (fits: (text: string, affix: string) => boolean): Method<string> =>
  (self, args) => {
    const affix = args.positional[0];
    const choices = Array.isArray(affix) ? affix.map(strings.mustBeText) : [text(args, 0)];
    const within = part(self, args).text;
    return choices.some((each) => fits(within, each));
  };

const finding =
  (place: (text: string, wanted: string) => number, fails: boolean): Method<string> =>
  (self, args) => {
    const { text: within, offset } = part(self, args);
    const at = place(within, text(args, 0));
    if (at < 0 && fails) throw new TemplateFault("substring not found");
    return at < 0 ? -1 : at + offset;
  };

const aligning =
  (align: "left" | "right" | "both"): Method<string> =>
  (self, args) =>
    strings.align(self, count(args, 0, "width", 0), optionalText(args, 1, "fillchar") ?? " ", align);

const partition =
  (last: boolean): Method<string> =>
  (self, args) => {
    const separator = text(args, 0);
    if (separator === "") throw new TemplateFault("empty separator");
    const at = last ? self.lastIndexOf(separator) : self.indexOf(separator);
    if (at < 0) return tupleOf(last ? ["", "", self] : [self, "", ""]);
    return tupleOf([self.slice(0, at), separator, self.slice(at + separator.length)]);
  };

const splitting =
  (cut: (text: string, separator: string | undefined, most: number) => string[]): Method<string> =>
  (self, args) =>
    cut(self, optionalText(args, 0, "sep"), count(args, 1, "maxsplit", -1));

function replace(self: string, args: Arguments): string {
  const most = count(args, 2, "count", -1);
  return strings.replace(self, text(args, 0), text(args, 1), most);
}

const STR: ReadonlyMap<string, Method<string>> = new Map<string, Method<string>>([
  ["capitalize", changing(strings.capitalize)],
  ["casefold", changing((s) => s.toLowerCase())],
  ["lower", changing((s) => s.toLowerCase())],
  ["upper", changing((s) => s.toUpperCase())],
  ["title", changing(strings.title)],
  [
    "swapcase",
    changing((s) => s.replace(/./gsu, (c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase()))),
  ],
  ["strip", stripping(true, true)],
  ["lstrip", stripping(true, false)],
  ["rstrip", stripping(false, true)],
  ["split", splitting(strings.split)],
  ["rsplit", splitting(strings.splitFromRight)],
  [
    "splitlines",
    (self, args) => splitLines(self, (args.positional[0] ?? args.named.get("keepends")) === true),
  ],
  ["partition", partition(false)],
  ["rpartition", partition(true)],
  ["startswith", affixed((s, affix) => s.startsWith(affix))],
  ["endswith", affixed((s, affix) => s.endsWith(affix))],
  [
    "removeprefix",
    (self, args) => (self.startsWith(text(args, 0)) ? self.slice(text(args, 0).length) : self),
  ],
  [
    "removesuffix",
    (self, args) =>
      text(args, 0) !== "" && self.endsWith(text(args, 0)) ? self.slice(0, -text(args, 0).length) : self,
  ],
  ["find", finding(strings.find, false)],
  ["index", finding(strings.find, true)],
  ["rfind", finding(strings.findLast, false)],
  ["rindex", finding(strings.findLast, true)],
  ["count", (self, args) => strings.count(part(self, args).text, text(args, 0))],
  ["replace", replace],
  ["join", (self, args) => strings.joined(iterate(args.positional[0] ?? null).map(strings.mustBeText), self)],
  ["format", formatBraces],
  ["ljust", aligning("left")],
  ["rjust", aligning("right")],
  ["center", aligning("both")],
  ["zfill", (self, args) => strings.zeroFilled(self, count(args, 0, "width", 0))],
  ["isdigit", asking(/^\d+$/)],
  ["isdecimal", asking(/^\p{Nd}+$/u)],
  ["isnumeric", asking(/^\p{N}+$/u)],
  ["isalpha", asking(/^\p{L}+$/u)],
  ["isalnum", asking(/^[\p{L}\p{N}]+$/u)],
  ["isspace", asking(/^\s+$/)],
  ["isupper", (self) => /\p{Lu}/u.test(self) && self === self.toUpperCase()],
  ["islower", (self) => /\p{Ll}/u.test(self) && self === self.toLowerCase()],
]);

const DICT: ReadonlyMap<string, Method<Map<Value, Value>>> = new Map<string, Method<Map<Value, Value>>>([
  [
    "get",
    (self, { positional: [key = null, otherwise = null] }) => {
      const found = self.get(key);
      return found === undefined ? otherwise : found;
    },
  ],
  ["items", (self) => [...self].map(([key, value]) => tupleOf([key, value]))],
  ["keys", (self) => [...self.keys()]],
  ["values", (self) => [...self.values()]],
  ["copy", (self) => new Map(self)],
]);

const LIST: ReadonlyMap<string, Method<Value[]>> = new Map<string, Method<Value[]>>([
  ["count", (self, { positional }) => self.filter((each) => equals(each, positional[0]!)).length],
  [
    "index",
    (self, { positional }) => {
      const at = self.findIndex((each) => equals(each, positional[0]!));
      if (at < 0) throw new TemplateFault("the value is not in list");
      return at;
    },
  ],
  ["copy", (self) => [...self]],
]);

/** Methods that would change a value; transformers' sandbox refuses them. */
const CHANGING = new Set(
  "append extend insert pop remove clear sort reverse update setdefault popitem add discard".split(" "),
);

/** A method of a value, bound to it; undefined if it has none of that name. */
export function methodOf(self: Value, name: string): Callable | undefined {
  const bound = <T extends Value>(methods: ReadonlyMap<string, Method<T>>, value: T) => {
    const method = methods.get(name);
    return method && new Callable(name, (args) => method(value, args));
  };
  if (typeof self === "string") return bound(STR, self);
  if (!(self instanceof Map) && !Array.isArray(self)) return undefined;
  if (CHANGING.has(name) && !(self instanceof Map && self.has(name))) {
    throw new TemplateFault(`access to attribute '${name}' of '${typeName(self)}' object is unsafe.`);
  }
  return self instanceof Map ? bound(DICT, self) : bound(LIST, self);
}
