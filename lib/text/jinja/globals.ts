/** Functions that every template may call. Source: jinja2/defaults.py; transformers, utils/chat_template_utils.py. */
import { strftime } from "./strftime.ts";
import { Callable, isInteger, Namespace, str, TemplateFault, typeName, type Value } from "./values.ts";

/** Exception thrown by raise_exception. */
export class RaisedByTemplate extends Error {}

const MOST_RANGE = 100_000; // as in Jinja's sandbox

const callable = (name: string, call: Callable["call"]): readonly [string, Callable] => [
  name,
  new Callable(name, call),
];

/** `clock` is the current time for strftime_now. */
export function globals(clock: Date): ReadonlyMap<string, Value> {
  return new Map<string, Value>([
    callable("range", ({ positional }) => range(positional.map(whole))),
    callable("dict", ({ named }) => new Map(named)),
    callable("namespace", ({ positional, named }) => {
      const first =
        positional[0] instanceof Map ? [...positional[0]].map(([key, v]) => [str(key), v] as const) : [];
      return new Namespace([...first, ...named]);
    }),
    callable("cycler", ({ positional }) => cycler(positional)),
    callable("joiner", ({ positional, named }) =>
      joiner(positional.length > 0 ? positional[0]! : (named.get("sep") ?? ", ")),
    ),
    callable("raise_exception", ({ positional }) => {
      throw new RaisedByTemplate(positional.length > 0 ? str(positional[0]!) : "");
    }),
    callable("strftime_now", ({ positional }) => strftime(clock, str(positional[0] ?? ""))),
  ]);
}

/** Jinja's cycler: `next()` returns items cyclically; `current` is the item that `next()` will return. */
function cycler(items: readonly Value[]): Value {
  if (items.length === 0) throw new TemplateFault("at least one item has to be provided");
  let at = 0;
  const go = (to: number, gives: Value) => {
    at = to % items.length;
    made.set("current", items[at]!);
    return gives;
  };
  const made = new Namespace([
    ["current", items[0]!],
    callable("next", () => go(at + 1, items[at]!)),
    callable("reset", () => go(0, null)),
  ]);
  return made;
}

/** Returns an empty text at the first call, then the separator. */
function joiner(separator: Value): Value {
  let used = false;
  return new Callable("joiner", () => {
    const gives = used ? separator : "";
    used = true;
    return gives;
  });
}

function whole(v: Value): number {
  if (isInteger(v) || typeof v === "boolean") return Number(v);
  throw new TemplateFault(`'${typeName(v)}' object cannot be interpreted as an integer`);
}

/** range() as in Python, bounded as in Jinja's sandbox. */
function range([first, second, step = 1]: readonly number[]): Value {
  if (first === undefined) throw new TemplateFault("range expected at least 1 argument, got 0");
  if (step === 0) throw new TemplateFault("range() arg 3 must not be zero");
  const [begin, end] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((end - begin) / step));
  if (length > MOST_RANGE)
    throw new TemplateFault(`range of ${length} is too long: the most is ${MOST_RANGE}`);
  return Array.from({ length }, (_, i) => begin + i * step);
}
