/** Python's two ways to lay out values: `"%05.2f" % x` and `"{:>8}".format(x)`. Source: Python, string formatting. */
import {
  type Arguments,
  isFloat,
  isInteger,
  isNumber,
  numeric,
  repr,
  str,
  TemplateFault,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

interface Spec {
  readonly fill: string;
  readonly align: string;
  readonly sign: string;
  readonly alternate: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | undefined;
  readonly type: string;
}

const PERCENT = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?[hlL]?(.)?/gs;
const MOST_WIDTH = 1 << 20;

/** template % values: a single value, a tuple of them, or a dict for %(name)s. */
export function formatPercent(template: string, values: Value): string {
  const list = values instanceof Tuple ? [...values] : [values];
  let used = 0;
  const take = (): Value => {
    if (used >= list.length) throw new TemplateFault("not enough arguments for format string");
    return list[used++]!;
  };
  const text = template.replace(
    PERCENT,
    (all, key?: string, flags = "", width?: string, precision?: string, type?: string) => {
      if (type === "%") return "%";
      if (type === undefined) throw new TemplateFault("incomplete format");
      const count = (each: string | undefined) =>
        each === "*" ? Number(take()) : each === undefined ? undefined : Number(each);
      const [w, p] = [count(width) ?? 0, count(precision)];
      const value = key === undefined ? take() : keyed(values, key);
      return converted(value, type, flags, w, p) ?? unknownType(type, all);
    },
  );
  if (used < list.length && !(values instanceof Map)) {
    throw new TemplateFault("not all arguments converted during string formatting");
  }
  return text;
}

function unknownType(type: string, where: string): never {
  throw new TemplateFault(`unsupported format character '${type}' in ${JSON.stringify(where)}`);
}

function keyed(values: Value, key: string): Value {
  if (!(values instanceof Map)) throw new TemplateFault("format requires a mapping");
  const value = values.get(key);
  if (value === undefined) throw new TemplateFault(`'${key}'`);
  return value;
}

function converted(
  v: Value,
  type: string,
  flags: string,
  width: number,
  precision: number | undefined,
): string | undefined {
  const left = flags.includes("-");
  const sign = flags.includes("+") ? "+" : flags.includes(" ") ? " " : "-";
  const spec = (kind: string, zero = flags.includes("0") && !left): Spec => ({
    fill: zero ? "0" : " ",
    align: left ? "<" : zero ? "=" : ">",
    sign,
    alternate: flags.includes("#"),
    width,
    grouping: "",
    precision,
    type: kind,
  });
  if (type === "s" || type === "r" || type === "a")
    return laidText(type === "s" ? str(v) : repr(v), spec("s", false));
  if (type === "c") return laidText(isInteger(v) ? String.fromCodePoint(v) : str(v), spec("s", false));
  if (!"diufFeEgGxXo".includes(type)) return undefined;
  if (!isNumber(v)) throw new TemplateFault(`%${type} format: a real number is required, not ${typeName(v)}`);
  const whole = "diuxXo".includes(type);
  return laidNumber(whole ? Math.trunc(numeric(v)) : numeric(v), {
    ...spec("diu".includes(type) ? "d" : type),
    ...(whole && { precision: undefined }),
  });
}

/** template.format(...). */
export function formatBraces(template: string, args: Arguments): string {
  let automatic = 0;
  return template.replace(/\{\{|\}\}|\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}|[{}]/g, (all, field?: string) => {
    if (all === "{{" || all === "}}") return all[0]!;
    if (field === undefined) throw new TemplateFault(`Single '${all}' encountered in format string`);
    const [, path = "", conversion, spec = ""] =
      /^([^!:]*)(?:!([rsa]))?(?::(.*))?$/s.exec(field) ?? unreadable(field);
    const value = lookedUp(path, args, () => automatic++);
    const inner = spec.replace(/\{([^{}]*)\}/g, (_, name: string) =>
      str(lookedUp(name, args, () => automatic++)),
    );
    return formatValue(
      conversion === undefined ? value : conversion === "s" ? str(value) : repr(value),
      inner,
    );
  });
}

function unreadable(field: string): never {
  throw new TemplateFault(`the replacement field {${field}} cannot be read`);
}

/** Looks up "0", "name" or "" (the next one), followed by any [key]. */
function lookedUp(path: string, args: Arguments, next: () => number): Value {
  const [head, ...keys] = path.split(/[[\].]+/).filter((part, i) => i === 0 || part !== "");
  const position = head === "" ? next() : /^\d+$/.test(head!) ? Number(head) : undefined;
  let value = position === undefined ? args.named.get(head!) : args.positional[position];
  if (value === undefined) {
    throw new TemplateFault(
      position === undefined
        ? `'${head}'`
        : `Replacement index ${position} out of range for positional args tuple`,
    );
  }
  for (const key of keys) {
    const inner: Value | undefined =
      value instanceof Map ? value.get(key) : Array.isArray(value) ? value[Number(key)] : undefined;
    if (inner === undefined) throw new TemplateFault(`'${key}'`);
    value = inner;
  }
  return value;
}

const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/su;

/** format(value, spec) */
export function formatValue(v: Value, text: string): string {
  if (text === "") return str(v);
  const found = SPEC.exec(text);
  if (found === null) throw new TemplateFault("Invalid format specifier");
  const [, fill, align, sign = "-", alternate, zero, width, grouping = "", precision, type = ""] = found;
  const spec: Spec = {
    fill: fill ?? (zero !== undefined ? "0" : " "),
    align: align ?? (zero !== undefined && typeof v !== "string" ? "=" : ""),
    sign,
    alternate: alternate !== undefined,
    width: Math.min(Number(width ?? 0), MOST_WIDTH),
    grouping,
    precision: precision === undefined ? undefined : Number(precision),
    type,
  };
  if (v instanceof Undefined) throw new TemplateFault(v.why);
  if (isNumber(v)) {
    const kind = type === "" || type === "n" ? (isFloat(v) ? "" : "d") : type;
    return laidNumber(numeric(v), { ...spec, type: kind });
  }
  if (type !== "" && type !== "s")
    throw new TemplateFault(`Unknown format code '${type}' for object of type '${typeName(v)}'`);
  return laidText(str(v), spec);
}

function laidText(text: string, { fill, align, width, precision }: Spec): string {
  const characters = [...text];
  const kept = precision === undefined ? characters : characters.slice(0, precision);
  return padded(kept.join(""), kept.length, fill, align === "" || align === "=" ? "<" : align, width);
}

function padded(text: string, size: number, fill: string, align: string, width: number): string {
  const missing = Math.max(0, Math.min(width, MOST_WIDTH) - size);
  const left = align === "<" ? 0 : align === "^" ? Math.floor(missing / 2) : missing;
  return fill.repeat(left) + text + fill.repeat(missing - left);
}

function laidNumber(n: number, spec: Spec): string {
  const negative = n < 0 || Object.is(n, -0);
  const sign = negative ? "-" : spec.sign === "-" ? "" : spec.sign;
  const body = grouped(digits(Math.abs(n), spec), spec.grouping);
  const prefix = spec.alternate && "xXob".includes(spec.type) && spec.type !== "" ? `0${spec.type}` : "";
  const head = sign + prefix;
  if (spec.align === "=") {
    return head + padded(body, body.length + head.length, spec.fill, ">", spec.width);
  }
  return padded(
    head + body,
    head.length + body.length,
    spec.fill,
    spec.align === "" ? ">" : spec.align,
    spec.width,
  );
}

function digits(n: number, { type, precision }: Spec): string {
  const wholeOnly: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, x: 16, X: 16 };
  const base = wholeOnly[type];
  if (base !== undefined) {
    if (!Number.isInteger(n))
      throw new TemplateFault(`Unknown format code '${type}' for object of type 'float'`);
    const text = n.toString(base);
    return type === "X" ? text.toUpperCase() : text;
  }
  if (!Number.isFinite(n)) return Number.isNaN(n) ? "nan" : "inf";
  switch (type.toLowerCase()) {
    case "f":
      return fixed(n, precision ?? 6);
    case "%":
      return `${fixed(n * 100, precision ?? 6)}%`;
    case "e":
      return cased(exponential(n, precision ?? 6), type);
    case "c":
      return String.fromCodePoint(n);
    case "g":
      return cased(general(n, precision ?? 6), type);
    default:
      return precision === undefined ? repr(n) : general(n, precision);
  }
}

const cased = (text: string, type: string): string =>
  type === type.toUpperCase() ? text.toUpperCase() : text;

const exponential = (n: number, precision: number): string =>
  n.toExponential(precision).replace(/e([-+])(\d)$/, "e$10$2");

function general(n: number, precision: number): string {
  const most = Math.max(1, precision);
  const power = n === 0 ? 0 : Number(n.toExponential(most - 1).split("e")[1]);
  const trimmed = (text: string) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -4 && power < most) return trimmed(fixed(n, most - 1 - power));
  const [head, tail] = exponential(n, most - 1).split("e") as [string, string];
  return `${trimmed(head)}e${tail}`;
}

/** Decimal digits, rounding ties to even as Python does; toFixed rounds them up. */
export function fixed(n: number, precision: number): string {
  const text = n.toFixed(Math.min(100, precision));
  const tie = Number.isInteger(n * 2 ** (precision + 1)) && Math.abs((n * 10 ** precision) % 1) === 0.5;
  if (!tie || !/[13579]$/.test(text)) return text;
  const lower = Math.sign(n) * (Math.abs(Number(text)) - 10 ** -precision);
  return lower.toFixed(precision);
}

function grouped(text: string, separator: string): string {
  if (separator === "") return text;
  const [whole, rest] = text.split(/(?=[.e%])(.*)/s) as [string, string?];
  return whole.replace(/\B(?=(?:\d{3})+$)/g, separator) + (rest ?? "");
}
