import { capitalize, length, strip } from "./python-strings.ts";
import * as py from "./python-values.ts";

type Filter = (make: py.Maker, operand: py.Value, args: py.Arguments) => py.Value | undefined;

const argument = (args: py.Arguments, index: number, name: string): py.Value | undefined =>
  args.positional[index] ?? args.named.get(name);

const onText =
  (change: (text: string) => string): Filter =>
  (make, operand) =>
    make.text(change(py.str(operand)));

/**
 * Filters that Python's Jinja applies to str(x) whatever x is, or that the interpreter underneath does not have or
 * does otherwise. One that gives undefined leaves this operand to the interpreter.
 */
const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ["string", onText((text) => text)],
  ["upper", onText((text) => text.toUpperCase())],
  ["lower", onText((text) => text.toLowerCase())],
  ["capitalize", onText(capitalize)],
  [
    "trim",
    (make, operand, args) => {
      const chars = argument(args, 0, "chars");
      const set = chars === undefined || chars.type === "NullValue" ? undefined : py.str(chars);
      return make.text(strip(py.str(operand), set, true, true));
    },
  ],
  ["replace", replace],
  ["join", join],
  ["length", count],
  ["count", count],
  ["tojson", toJson],
  ["default", orDefault],
  ["d", orDefault],
  ["list", listed],
  ["first", (make, operand) => edge(make, operand, 0)],
  ["last", (make, operand) => edge(make, operand, -1)],
  ["unique", unique],
]);

/** The filtered value, or undefined where the interpreter underneath does the same as Python. */
export function applyFilter(
  make: py.Maker,
  name: string,
  operand: py.Value,
  args: () => py.Arguments,
): py.Value | undefined {
  const filter = FILTERS.get(name);
  return filter?.(make, operand, args());
}

function replace(make: py.Maker, operand: py.Value, args: py.Arguments): py.Value {
  const from = py.str(argument(args, 0, "old") ?? missing("replace", "old"));
  const to = py.str(argument(args, 1, "new") ?? missing("replace", "new"));
  const count = argument(args, 2, "count");
  const text = py.str(operand);
  if (count === undefined || count.type === "NullValue") return make.text(text.split(from).join(to));
  const parts = text.split(from);
  const most = Number(count.value);
  const head = parts.slice(0, most + 1).join(to);
  return make.text([head, ...parts.slice(most + 1)].join(from));
}

function missing(filter: string, name: string): never {
  throw new TypeError(`${filter}() is missing its argument '${name}'`);
}

function join(make: py.Maker, operand: py.Value, args: py.Arguments): py.Value | undefined {
  const separator = argument(args, 0, "d");
  const attribute = argument(args, 1, "attribute");
  if (attribute !== undefined && attribute.type !== "NullValue") return undefined;
  const parts =
    operand.type === "StringValue" ? [...(operand.value as string)] : members(operand)?.map(py.str);
  return parts && make.text(parts.join(separator === undefined ? "" : py.str(separator)));
}

/** What iterating over a list or a mapping gives. */
function members(operand: py.Value): readonly py.Value[] | undefined {
  return py.isArray(operand) ? py.items(operand) : undefined;
}

function count(make: py.Maker, operand: py.Value): py.Value | undefined {
  const size = sizeOf(operand);
  return size === undefined ? undefined : make.literal("IntegerLiteral", size);
}

/** len(x); nothing has the length 0. */
function sizeOf(operand: py.Value): number | undefined {
  if (operand.type === "UndefinedValue") return 0;
  if (operand.type === "StringValue") return length(operand.value as string);
  if (py.isMapping(operand)) return py.entries(operand).size;
  return py.isArray(operand) ? py.items(operand).length : undefined;
}

function toJson(make: py.Maker, operand: py.Value, args: py.Arguments): py.Value {
  const option = (name: string) => {
    const value = args.named.get(name);
    return value === undefined || value.type === "NullValue" ? undefined : value;
  };
  const indent = args.positional[0] ?? option("indent");
  const separators = option("separators");
  const [comma, colon] = separators === undefined ? [] : py.items(separators).map(py.str);
  return make.text(
    py.dumps(operand, {
      ...(indent !== undefined && indent.type !== "NullValue" && { indent: Number(indent.value) }),
      ...(comma !== undefined && colon !== undefined && { separators: [comma, colon] as const }),
      sortKeys: option("sort_keys")?.value === true,
      ensureAscii: option("ensure_ascii")?.value === true,
    }),
  );
}

function orDefault(make: py.Maker, operand: py.Value, args: py.Arguments): py.Value {
  const value = argument(args, 0, "default_value") ?? make.text("");
  const falsy = argument(args, 1, "boolean")?.value === true && !truth(operand);
  return operand.type === "UndefinedValue" || falsy ? value : operand;
}

const truth = (v: py.Value): boolean => (sizeOf(v) ?? Number(Boolean(v.value))) > 0;

function listed(make: py.Maker, operand: py.Value): py.Value | undefined {
  if (operand.type === "StringValue")
    return make.list([...(operand.value as string)].map((c) => make.text(c)));
  if (py.isMapping(operand)) return make.list([...py.entries(operand).keys()].map((key) => make.text(key)));
  return py.isArray(operand) ? make.list(py.items(operand)) : undefined;
}

function edge(make: py.Maker, operand: py.Value, index: 0 | -1): py.Value | undefined {
  if (operand.type === "StringValue") {
    const character = [...(operand.value as string)].at(index);
    return character === undefined ? nothing(make) : make.text(character);
  }
  const all = members(operand);
  return all && (all.at(index) ?? nothing(make));
}

/** An undefined value: the first of an empty list. */
const nothing = (make: py.Maker): py.Value => make.literal("Identifier", "\u0000nothing");

function unique(make: py.Maker, operand: py.Value): py.Value | undefined {
  const all = members(operand);
  if (all === undefined) return undefined;
  const key = (v: py.Value) => (v.type === "StringValue" ? (v.value as string).toLowerCase() : undefined);
  const seen: py.Value[] = [];
  for (const item of all) {
    const known = seen.some((each) =>
      key(item) === undefined ? py.equals(each, item) : key(each) === key(item),
    );
    if (!known) seen.push(item);
  }
  return make.list(seen);
}
