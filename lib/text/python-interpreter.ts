import { Environment, Interpreter, type Scope, type Statement } from "./jinja.ts";
import { applyFilter } from "./python-filters.ts";
import { callMethod } from "./python-methods.ts";
import * as py from "./python-values.ts";
import { bodiesOf, type Located } from "./template-lines.ts";

type Node = Statement & Readonly<Record<string, unknown>>;

/** What raise_exception throws. */
export class RaisedByTemplate extends Error {}

const MOST_REPEATED = 1 << 24;
const MOST_RANGE = 100_000; // as in Jinja's sandbox
const SILENT = new Set([
  "Set",
  "If",
  "For",
  "Macro",
  "Comment",
  "Break",
  "Continue",
  "CallStatement",
  "FilterStatement",
  "StringLiteral",
]);

/**
 * The interpreter of @huggingface/jinja, made to do what Python's Jinja does where the two differ: how values are
 * printed, added, repeated and compared; filters and methods of strings; a scope for each turn of a loop. `line` is
 * that of the statement in progress.
 */
export class PythonInterpreter extends Interpreter {
  line: number | undefined;
  readonly #located: Located;
  readonly #outputs = new Set<Statement>();
  readonly #turns = new Set<Statement>();

  constructor(located: Located, variables: ReadonlyMap<string, unknown>) {
    super(new Environment());
    this.#located = located;
    this.#mark(located.program.body);
    const raise = (message: unknown) => {
      throw new RaisedByTemplate(String(message));
    };
    const globals = { true: true, True: true, false: false, False: false, none: null, None: null };
    for (const [name, value] of Object.entries({ ...globals, raise_exception: raise, range })) {
      this.global.set(name, value);
    }
    for (const [name, value] of variables) this.global.setVariable(name, this.#converted(value));
  }

  /** The rendered text. */
  render(): string {
    return py.str(this.run(this.#located.program));
  }

  override evaluate(statement: Statement | undefined, environment: Scope): py.Value {
    if (statement === undefined) return super.evaluate(statement, environment);
    const line = this.#located.lines.get(statement);
    if (line !== undefined) this.line = line;
    if (this.#turns.has(statement)) return this.#turn(statement, environment);
    const value = this.#value(statement as Node, environment);
    return this.#outputs.has(statement) ? this.text(py.str(value)) : value;
  }

  text(value: string): py.Value {
    return this.literal("StringLiteral", value);
  }

  /** A value of a literal's kind: StringLiteral, IntegerLiteral, FloatLiteral. */
  literal(type: string, value: unknown): py.Value {
    return super.evaluate({ type, value } as unknown as Statement, this.global);
  }

  boolean(value: boolean): py.Value {
    return this.global.lookupVariable(value ? "true" : "false");
  }

  /** A list of values that exist already. */
  list(values: readonly py.Value[]): py.Value {
    const nodes = values.map((value) => ({ type: "Value", value }));
    return this.evaluate({ type: "ArrayLiteral", value: nodes } as unknown as Statement, this.global);
  }

  #mark(body: readonly Statement[]): void {
    for (const statement of body) {
      if (!SILENT.has(statement.type)) this.#outputs.add(statement);
      for (const inner of bodiesOf(statement)) this.#mark(inner);
      if (statement.type === "For") this.#wrapTurn(statement);
    }
  }

  /** Jinja gives each turn of a loop a scope of its own; the interpreter underneath has one for the whole loop. */
  #wrapTurn(loop: Statement): void {
    const holder = loop as unknown as { body: Statement[] };
    // A program is a statement with nothing but a body, and known to the search for macro arguments.
    const turn = Object.assign(Object.create(Object.getPrototypeOf(this.#located.program) as object), {
      type: "Program",
      body: holder.body,
    }) as Statement;
    holder.body = [turn];
    this.#turns.add(turn);
  }

  #turn(statement: Statement, environment: Scope): py.Value {
    return super.evaluate(statement, new Environment(environment));
  }

  #value(node: Node, environment: Scope): py.Value {
    switch (node.type) {
      case "Value":
        return node["value"] as py.Value;
      case "BinaryExpression":
        return this.#binary(node, environment);
      case "FilterExpression":
        return this.#filter(node, environment);
      case "CallExpression":
        return this.#call(node, environment);
      case "MemberExpression":
        return this.#member(node, environment);
      case "TestExpression":
        return this.#test(node, environment);
      default:
        return super.evaluate(node, environment);
    }
  }

  /** The node again with parts that have been evaluated already. */
  #resume(node: Node, parts: Readonly<Record<string, py.Value>>, environment: Scope): py.Value {
    const done = Object.entries(parts).map(([name, value]) => [name, { type: "Value", value }]);
    return super.evaluate({ ...node, ...Object.fromEntries(done) } as unknown as Statement, environment);
  }

  #binary(node: Node, environment: Scope): py.Value {
    const operator = (node["operator"] as { value: string }).value;
    if (operator === "and" || operator === "or") return super.evaluate(node, environment);
    const left = this.evaluate(node["left"] as Statement, environment);
    const right = this.evaluate(node["right"] as Statement, environment);
    switch (operator) {
      case "==":
        return this.boolean(py.equals(left, right));
      case "!=":
        return this.boolean(!py.equals(left, right));
      case "~":
        return this.text(py.str(left) + py.str(right));
      case "*":
        if (repeats(left, right)) return this.#repeat(left, right);
        if (repeats(right, left)) return this.#repeat(right, left);
        break;
      case "+":
        checkSum(left, right);
        break;
      case "in":
      case "not in":
        if (py.isArray(right)) {
          const found = py.items(right).some((item) => py.equals(item, left));
          return this.boolean(found === (operator === "in"));
        }
        break;
      case "%":
        if (py.isNumber(left) && py.isNumber(right)) return this.#modulo(left, right);
        break;
      default:
        if (left.type === "StringValue" && right.type === "StringValue") {
          const order = py.byCodePoint(left.value as string, right.value as string);
          const holds = { "<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0 }[operator];
          if (holds !== undefined) return this.boolean(holds);
        }
    }
    return this.#resume(node, { left: this.#integer(left), right: this.#integer(right) }, environment);
  }

  /** A bool counts as 0 or 1. */
  #integer(v: py.Value): py.Value {
    return v.type === "BooleanValue" ? this.literal("IntegerLiteral", Number(v.value)) : v;
  }

  #repeat(what: py.Value, times: py.Value): py.Value {
    const n = Math.max(0, Number(times.value));
    const size = what.type === "StringValue" ? (what.value as string).length : py.items(what).length;
    if (n * size > MOST_REPEATED) throw new RangeError(`a repetition of ${n * size} is too long`);
    if (what.type === "StringValue") return this.text((what.value as string).repeat(n));
    return this.list(Array.from({ length: n }, () => py.items(what)).flat());
  }

  #modulo(left: py.Value, right: py.Value): py.Value {
    const [a, b] = [Number(left.value), Number(right.value)];
    if (b === 0) throw new RangeError("integer modulo by zero");
    const isFloat = left.type === "FloatValue" || right.type === "FloatValue";
    return this.literal(isFloat ? "FloatLiteral" : "IntegerLiteral", a - b * Math.floor(a / b));
  }

  #filter(node: Node, environment: Scope): py.Value {
    const operand = this.evaluate(node["operand"] as Statement, environment);
    const filter = node["filter"] as Node;
    const name = String((filter["callee"] as { value?: string } | undefined)?.value ?? filter["value"]);
    const given = (filter["args"] ?? []) as Node[];
    const value = applyFilter(this, name, operand, () => this.#arguments(given, environment));
    return value ?? this.#resume(node, { operand }, environment);
  }

  #call(node: Node, environment: Scope): py.Value {
    const callee = node["callee"] as Node;
    const member = callee.type === "MemberExpression" && callee["computed"] !== true;
    if (!member) return super.evaluate(node, environment);
    const object = this.evaluate(callee["object"] as Statement, environment);
    const name = (callee["property"] as { value?: string }).value ?? "";
    const given = (node["args"] ?? []) as Node[];
    const value = callMethod(this, name, object, () => this.#arguments(given, environment));
    if (value !== undefined) return value;
    const again = { ...callee, object: { type: "Value", value: object } };
    return super.evaluate({ ...node, callee: again } as unknown as Statement, environment);
  }

  /** A character of a string by its place among code points. */
  #member(node: Node, environment: Scope): py.Value {
    const object = this.evaluate(node["object"] as Statement, environment);
    const property = node["property"] as Node;
    if (object.type === "StringValue" && node["computed"] === true && property.type !== "SliceExpression") {
      const index = this.evaluate(property, environment);
      const character =
        index.type === "IntegerValue" ? [...(object.value as string)].at(index.value as number) : undefined;
      if (character !== undefined) return this.text(character);
    }
    if (object.type === "UndefinedValue") throw new TypeError("an undefined value has no attributes");
    return this.#resume(node, { object }, environment);
  }

  #test(node: Node, environment: Scope): py.Value {
    const operand = this.evaluate(node["operand"] as Statement, environment);
    const name = (node["test"] as { value: string }).value;
    const iterable = py.isArray(operand) || py.isMapping(operand) || operand.type === "StringValue";
    const holds = { iterable, number: py.isNumber(operand) }[name];
    if (holds === undefined) return this.#resume(node, { operand }, environment);
    return this.boolean(holds !== (node["negate"] === true));
  }

  #arguments(nodes: readonly Node[], environment: Scope): py.Arguments {
    const positional: py.Value[] = [];
    const named = new Map<string, py.Value>();
    for (const node of nodes) {
      if (node.type === "KeywordArgumentExpression") {
        const key = (node["key"] as { value: string }).value;
        named.set(key, this.evaluate(node["value"] as Statement, environment));
      } else positional.push(this.evaluate(node, environment));
    }
    return { positional, named };
  }

  /** JavaScript values as run-time values, floats kept. */
  #converted(value: unknown): py.Value {
    if (value instanceof py.Float) return this.literal("FloatLiteral", value.value);
    if (Array.isArray(value)) return this.list(value.map((item) => this.#converted(item)));
    if (typeof value === "object" && value !== null) {
      const pairs = Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [
          { type: "StringLiteral", value: key },
          { type: "Value", value: this.#converted(item) },
        ]);
      return this.evaluate(
        { type: "ObjectLiteral", value: new Map(pairs as [object, object][]) } as unknown as Statement,
        this.global,
      );
    }
    return new Environment().set("value", value);
  }
}

/** range() as in Python, bounded as in Jinja's sandbox. */
function range(first: number, second?: number, step = 1): number[] {
  const [begin, end] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((end - begin) / step));
  if (!(length <= MOST_RANGE)) throw new RangeError(`range of ${length} is too long`);
  return Array.from({ length }, (_, i) => begin + i * step);
}

const repeats = (what: py.Value, times: py.Value): boolean =>
  (what.type === "StringValue" || py.isArray(what)) &&
  (times.type === "IntegerValue" || times.type === "BooleanValue");

/** Python adds like to like. */
function checkSum(left: py.Value, right: py.Value): void {
  const strings = left.type === "StringValue" && right.type === "StringValue";
  const lists = py.isArray(left) && left.type === right.type;
  if (strings || lists || (py.isNumber(left) && py.isNumber(right))) return;
  if (left.type === "StringValue") {
    throw new TypeError(`can only concatenate str (not "${py.typeName(right)}") to str`);
  }
  const operands = `'${py.typeName(left)}' and '${py.typeName(right)}'`;
  throw new TypeError(`unsupported operand type(s) for +: ${operands}`);
}
