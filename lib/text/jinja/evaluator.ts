import { attribute, element } from "./access.ts";
import { applyFilter } from "./filters.ts";
import type { Limits } from "./limits.ts";
import { binary, compares, signed, slice } from "./operators.ts";
import type { Scope } from "./scope.ts";
import type { Expression, Given } from "./syntax.ts";
import { applyTest } from "./tests.ts";
import {
  type Arguments,
  Callable,
  floating,
  isNumber,
  iterate,
  Namespace,
  numeric,
  str,
  TemplateFault,
  truth,
  tupleOf,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

type Node<T extends Expression["type"]> = Extract<Expression, { type: T }>;

/** Computes expressions, within limits of steps and memory. */
export class Evaluator {
  readonly #limits: Pick<Limits, "step" | "make">;

  constructor(limits: Pick<Limits, "step" | "make">) {
    this.#limits = limits;
  }

  value(node: Expression, scope: Scope): Value {
    this.#limits.step(node.line);
    switch (node.type) {
      case "Const":
        return node.value;
      case "FloatConst":
        return floating(node.value);
      case "Name":
        return scope.get(node.name);
      case "List":
        return node.items.map((item) => this.value(item, scope));
      case "Tuple":
        return tupleOf(node.items.map((item) => this.value(item, scope)));
      case "Dict":
        return new Map(node.pairs.map(([key, value]) => [this.#key(key, scope), this.value(value, scope)]));
      case "Unary":
        return node.operator === "not"
          ? !truth(this.value(node.node, scope))
          : signed(node.operator, this.value(node.node, scope));
      case "Binary":
        return this.#binary(node, scope);
      case "Compare":
        return this.#compare(node, scope);
      case "Condition":
        return this.#condition(node, scope);
      case "Attribute":
        return attribute(this.value(node.object, scope), node.name);
      case "Item":
        return element(this.value(node.object, scope), this.value(node.key, scope));
      case "Slice": {
        const object = this.value(node.object, scope);
        const bounds = node.bounds.map((bound) => bound && this.value(bound, scope));
        return this.#made(slice(object, bounds));
      }
      case "Call":
        return this.#call(node, scope);
      case "Filter":
        return this.#filter(node, scope);
      case "Test":
        return this.#test(node, scope);
    }
  }

  /** Sends a text through the filters at the head of a block. */
  filtered(filter: Expression, text: Value, scope: Scope): Value {
    if (filter.type !== "Filter") return text;
    const operand = filter.operand === undefined ? text : this.filtered(filter.operand, text, scope);
    return this.#made(applyFilter(filter.name, operand, this.arguments(filter.given, scope)));
  }

  arguments(given: Given, scope: Scope): Arguments {
    const positional = given.positional.map((node) => this.value(node, scope));
    const named = new Map(given.named.map(([name, node]) => [name, this.value(node, scope)] as const));
    if (given.spread !== undefined) positional.push(...iterate(this.value(given.spread, scope)));
    if (given.spreadNamed !== undefined) {
      const more = this.value(given.spreadNamed, scope);
      if (!(more instanceof Map))
        throw new TemplateFault(`argument after ** must be a mapping, not ${typeName(more)}`);
      for (const [name, value] of more) named.set(str(name), value);
    }
    return { positional, named };
  }

  /** Calls a function with arguments that have been evaluated; `name` is what messages call it. */
  call(callee: Value, args: Arguments, name: string): Value {
    if (callee instanceof Callable) return this.#made(callee.call(args));
    if (callee instanceof Namespace && callee.call !== undefined) return this.#made(callee.call(args));
    if (callee instanceof Undefined) throw new TemplateFault(callee.why);
    throw new TemplateFault(`'${typeName(callee)}' object is not callable (${name})`);
  }

  #key(node: Expression, scope: Scope): Value {
    const key = this.value(node, scope);
    if (isNumber(key)) return numeric(key);
    if (typeof key === "string" || key === null) return key;
    throw new TemplateFault(`unhashable type: '${typeName(key)}'`);
  }

  #binary({ operator, left, right }: Node<"Binary">, scope: Scope): Value {
    const first = this.value(left, scope);
    if (operator === "and") return truth(first) ? this.value(right, scope) : first;
    if (operator === "or") return truth(first) ? first : this.value(right, scope);
    return this.#made(binary(operator, first, this.value(right, scope)), false);
  }

  #made(value: Value, copies = true): Value {
    this.#limits.make(value, copies);
    return value;
  }

  /** a < b < c is a < b and b < c. */
  #compare({ first, rest }: Node<"Compare">, scope: Scope): boolean {
    let left = this.value(first, scope);
    for (const [operator, node] of rest) {
      const right = this.value(node, scope);
      if (!compares(operator, left, right)) return false;
      left = right;
    }
    return true;
  }

  #condition({ test, value, otherwise }: Node<"Condition">, scope: Scope): Value {
    if (truth(this.value(test, scope))) return this.value(value, scope);
    if (otherwise !== undefined) return this.value(otherwise, scope);
    return new Undefined("the inline if-expression evaluated to false and no else section was defined.");
  }

  #call(node: Node<"Call">, scope: Scope): Value {
    const callee = this.value(node.callee, scope);
    const name =
      node.callee.type === "Name" || node.callee.type === "Attribute" ? node.callee.name : "the value";
    return this.call(callee, this.arguments(node.given, scope), name);
  }

  #filter(node: Node<"Filter">, scope: Scope): Value {
    const operand = node.operand === undefined ? "" : this.value(node.operand, scope);
    const args = this.arguments(node.given, scope);
    this.#limits.step(node.line);
    return this.#made(applyFilter(node.name, operand, args));
  }

  #test(node: Node<"Test">, scope: Scope): boolean {
    const operand = this.value(node.operand, scope);
    const { positional } = this.arguments(node.given, scope);
    this.#limits.step(node.line);
    return applyTest(node.name, operand, positional);
  }
}
