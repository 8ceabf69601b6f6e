/** Filters of lists and dicts. Source: jinja2/filters.py of Jinja 3.1. */
import { atPath } from "./access.ts";
import { expectItems } from "./limits.ts";
import { binary } from "./operators.ts";
import { joined } from "./strings.ts";
import { applyTest } from "./tests.ts";
import {
  type Arguments,
  compare,
  equals,
  given,
  isNumber,
  iterate,
  NamedTuple,
  numeric,
  sizeOf,
  str,
  TemplateFault,
  truth,
  tupleOf,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

type Apply = (name: string, v: Value, args: Arguments) => Value;
/** `apply` runs another filter, for filters that take the name of one. */
type SequenceFilter = (v: Value, args: Arguments, apply: Apply) => Value;

const argument = (args: Arguments, index: number, name: string): Value | undefined => {
  const value = given(args, index, name);
  return value === null ? undefined : value;
};

function size(args: Arguments, index: number, name: string): number {
  const value = argument(args, index, name);
  if (value !== undefined && isNumber(value) && numeric(value) >= 1) return numeric(value);
  throw new TemplateFault(
    `${name} is ${value === undefined ? "missing" : str(value)}, expected a number of at least 1`,
  );
}

/** The key by which items are sorted: the value at a path, ignoring case unless `caseSensitive`. */
function keyOf(path: Value | undefined, caseSensitive: boolean): (item: Value) => Value {
  return (item) => {
    const value = path === undefined ? item : atPath(item, path);
    return typeof value === "string" && !caseSensitive ? value.toLowerCase() : value;
  };
}

function sorted(items: readonly Value[], key: (item: Value) => Value, reverse: boolean): Value[] {
  const keyed = items.map((item) => [key(item), item] as const);
  // Python keeps equal items in their original order, also in a reversed sort.
  keyed.sort(([a], [b]) => (reverse ? compare(b, a) : compare(a, b)));
  return keyed.map(([, item]) => item);
}

function sort(v: Value, args: Arguments): Value {
  const paths = argument(args, 2, "attribute");
  const sensitive = argument(args, 1, "case_sensitive") === true;
  const parts = paths === undefined ? [undefined] : str(paths).split(",");
  const keys = parts.map((path) => keyOf(path, sensitive));
  const key = (item: Value) => (keys.length === 1 ? keys[0]!(item) : keys.map((each) => each(item)));
  return sorted(iterate(v), key, argument(args, 0, "reverse") === true);
}

function dictsort(v: Value, args: Arguments): Value {
  if (!(v instanceof Map)) throw new TemplateFault(`dictsort needs a dict, not a ${typeName(v)}`);
  const by = argument(args, 1, "by") ?? "key";
  if (by !== "key" && by !== "value") throw new TemplateFault('You can only sort by either "key" or "value"');
  const key = keyOf(by === "key" ? 0 : 1, argument(args, 0, "case_sensitive") === true);
  const pairs = [...v].map(([name, item]) => tupleOf([name, item]));
  return sorted(pairs, key, argument(args, 2, "reverse") === true);
}

/** Groups items of equal keys, after sorting by key; each group is (grouper, list). */
function groupby(v: Value, args: Arguments): Value {
  const path = argument(args, 0, "attribute");
  if (path === undefined) throw new TemplateFault("groupby() is missing its argument 'attribute'");
  const otherwise = argument(args, 1, "default");
  const sensitive = argument(args, 2, "case_sensitive") === true;
  const value = (item: Value) => {
    const found = atPath(item, path);
    return found instanceof Undefined && otherwise !== undefined ? otherwise : found;
  };
  const key = (item: Value) => keyOf(undefined, sensitive)(value(item));
  const groups: { key: Value; grouper: Value; list: Value[] }[] = [];
  for (const item of sorted(iterate(v), key, false)) {
    const last = groups.at(-1);
    if (last !== undefined && equals(last.key, key(item))) last.list.push(item);
    else groups.push({ key: key(item), grouper: value(item), list: [item] });
  }
  return groups.map(({ grouper, list }) => {
    const group = new NamedTuple();
    group.names = ["grouper", "list"];
    group.push(grouper, list);
    return group;
  });
}

/** Rows of n items; pads the last one if a filler is given. */
function batch(v: Value, args: Arguments): Value {
  const n = size(args, 0, "linecount");
  const fill = argument(args, 1, "fill_with");
  const items = iterate(v);
  const rows: Value[][] = [];
  for (let at = 0; at < items.length; at += n) rows.push(items.slice(at, at + n));
  const last = rows.at(-1);
  if (fill !== undefined && last !== undefined) {
    expectItems(n);
    while (last.length < n) last.push(fill);
  }
  return rows;
}

/** Splits into n columns of which the first ones are longer by one. */
function columns(v: Value, args: Arguments): Value {
  const n = size(args, 0, "slices");
  const fill = argument(args, 1, "fill_with");
  const items = iterate(v);
  expectItems(n);
  const [each, extra] = [Math.floor(items.length / n), items.length % n];
  return Array.from({ length: n }, (_, i) => {
    const begin = i * each + Math.min(i, extra);
    const part = items.slice(begin, begin + each + (i < extra ? 1 : 0));
    return fill !== undefined && i >= extra ? [...part, fill] : part;
  });
}

function sum(v: Value, args: Arguments): Value {
  const path = argument(args, 0, "attribute");
  const items = iterate(v).map((item) => (path === undefined ? item : atPath(item, path)));
  return items.reduce<Value>((total, item) => binary("+", total, item), argument(args, 1, "start") ?? 0);
}

/** Items for map, select and reject, which yield nothing for None and other empty values. */
const itemsOf = (v: Value): readonly Value[] => (truth(v) ? iterate(v) : []);

function map(v: Value, args: Arguments, apply: Apply): Value {
  const items = itemsOf(v);
  const path = args.named.get("attribute");
  if (path !== undefined && args.positional.length === 0) {
    const otherwise = args.named.get("default") ?? undefined; // a default of None counts as missing, as in Jinja
    return items.map((item) => {
      const found = atPath(item, path);
      return found instanceof Undefined && otherwise !== undefined ? otherwise : found;
    });
  }
  const [name, ...rest] = args.positional;
  if (name === undefined) throw new TemplateFault("map requires a filter argument");
  return items.map((item) => apply(str(name), item, { positional: rest, named: args.named }));
}

/** The filters select, reject, selectattr and rejectattr. */
const selecting =
  (keeps: boolean, byAttribute: boolean): SequenceFilter =>
  (v, { positional }) => {
    const [path, rest] = byAttribute ? [positional[0], positional.slice(1)] : [undefined, positional];
    if (byAttribute && path === undefined) throw new TemplateFault("missing parameter for attribute name");
    const [name, ...args] = rest;
    return itemsOf(v).filter((item) => {
      const value = path === undefined ? item : atPath(item, path);
      return (name === undefined ? truth(value) : applyTest(str(name), value, args)) === keeps;
    });
  };

function unique(v: Value, args: Arguments): Value {
  const key = keyOf(argument(args, 1, "attribute"), argument(args, 0, "case_sensitive") === true);
  const seen: Value[] = [];
  return iterate(v).filter((item) => {
    const value = key(item);
    if (seen.some((each) => equals(each, value))) return false;
    seen.push(value);
    return true;
  });
}

const extreme =
  (sign: 1 | -1): SequenceFilter =>
  (v, args) => {
    const items = iterate(v);
    const key = keyOf(argument(args, 1, "attribute"), argument(args, 0, "case_sensitive") === true);
    if (items.length === 0) return new Undefined("No aggregated item, sequence was empty.");
    return items.reduce((best, item) => (sign * compare(key(item), key(best)) < 0 ? item : best));
  };

const edge =
  (index: 0 | -1, name: string): SequenceFilter =>
  (v) => {
    const found = iterate(v).at(index);
    return found === undefined ? new Undefined(`No ${name} item, sequence was empty.`) : found;
  };

function reverse(v: Value): Value {
  const items = [...iterate(v)].reverse();
  return typeof v === "string" ? items.join("") : items;
}

function count(v: Value): Value {
  const found = sizeOf(v);
  if (found === undefined) throw new TemplateFault(`object of type '${typeName(v)}' has no len()`);
  return found;
}

function join(v: Value, args: Arguments): Value {
  const path = argument(args, 1, "attribute");
  const parts = iterate(v).map((item) => str(path === undefined ? item : atPath(item, path)));
  return joined(parts, str(argument(args, 0, "d") ?? ""));
}

function pairs(v: Value): Value {
  if (v instanceof Undefined) return [];
  if (!(v instanceof Map)) throw new TemplateFault("Can only get item pairs from a mapping.");
  return [...v].map(([key, item]) => tupleOf([key, item]));
}

export const SEQUENCE_FILTERS: ReadonlyMap<string, SequenceFilter> = new Map<string, SequenceFilter>([
  ["list", (v) => [...iterate(v)]],
  ["length", count],
  ["count", count],
  ["join", join],
  ["first", edge(0, "first")],
  ["last", edge(-1, "last")],
  ["sort", sort],
  ["dictsort", dictsort],
  ["groupby", groupby],
  ["batch", batch],
  ["slice", columns],
  ["sum", sum],
  ["map", map],
  ["select", selecting(true, false)],
  ["reject", selecting(false, false)],
  ["selectattr", selecting(true, true)],
  ["rejectattr", selecting(false, true)],
  ["unique", unique],
  ["min", extreme(1)],
  ["max", extreme(-1)],
  ["reverse", reverse],
  ["items", pairs],
]);
