import * as strings from "./python-strings.ts";
import * as py from "./python-values.ts";

type Method = (make: py.Maker, text: string, args: py.Arguments) => py.Value | undefined;

const optional = (args: py.Arguments, index: number): string | undefined => {
  const value = args.positional[index];
  return value === undefined || value.type === "NullValue" ? undefined : py.str(value);
};

const needed = (args: py.Arguments, index: number): string => {
  const value = args.positional[index];
  if (value?.type === "StringValue") return value.value as string;
  throw new TypeError(`a str is needed, not ${value === undefined ? "nothing" : py.typeName(value)}`);
};

const stripping =
  (left: boolean, right: boolean): Method =>
  (make, text, args) =>
    make.text(strings.strip(text, optional(args, 0), left, right));

const number = (make: py.Maker, value: number) => make.literal("IntegerLiteral", value);
const texts = (make: py.Maker, parts: readonly string[]) => make.list(parts.map((part) => make.text(part)));

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["strip", stripping(true, true)],
  ["lstrip", stripping(true, false)],
  ["rstrip", stripping(false, true)],
  ["capitalize", (make, text) => make.text(strings.capitalize(text))],
  ["splitlines", (make, text) => texts(make, strings.splitLines(text))],
  [
    "rsplit",
    (make, text, args) => {
      const most = args.positional[1] ?? args.named.get("maxsplit");
      const cuts = most === undefined ? -1 : Number(most.value);
      return texts(make, strings.splitFromRight(text, needed(args, 0), cuts));
    },
  ],
  ["find", (make, text, args) => number(make, strings.find(text, needed(args, 0)))],
  ["count", (make, text, args) => number(make, strings.count(text, needed(args, 0)))],
  [
    "removeprefix",
    (make, text, args) =>
      make.text(text.startsWith(needed(args, 0)) ? text.slice(needed(args, 0).length) : text),
  ],
  [
    "removesuffix",
    (make, text, args) =>
      make.text(text.endsWith(needed(args, 0)) ? text.slice(0, text.length - needed(args, 0).length) : text),
  ],
  ["isdigit", (make, text) => make.boolean(/^\d+$/.test(text))],
  [
    "join",
    (make, text, args) => {
      const list = args.positional[0];
      if (list === undefined || !py.isArray(list)) throw new TypeError("join needs a list");
      return make.text(py.items(list).map(mustBeText).join(text));
    },
  ],
]);

function mustBeText(item: py.Value, index: number): string {
  if (item.type === "StringValue") return item.value as string;
  throw new TypeError(`sequence item ${index}: expected str instance, ${py.typeName(item)} found`);
}

/** What a method of a str gives, or undefined where the interpreter underneath does the same as Python. */
export function callMethod(
  make: py.Maker,
  name: string,
  object: py.Value,
  args: () => py.Arguments,
): py.Value | undefined {
  const method = object.type === "StringValue" ? METHODS.get(name) : undefined;
  return method?.(make, object.value as string, args());
}
