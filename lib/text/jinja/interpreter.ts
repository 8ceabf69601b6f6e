import { assign } from "./assignment.ts";
import { Evaluator } from "./evaluator.ts";
import { Limits, MOST_DEPTH } from "./limits.ts";
import { type LoopFacts, LoopState } from "./loop-state.ts";
import { macro } from "./macro.ts";
import { Scope } from "./scope.ts";
import type { Body, Expression, Statement } from "./syntax.ts";
import {
  type Arguments,
  type Callable,
  iterate,
  str,
  TemplateFault,
  truth,
  Undefined,
  type Value,
} from "./values.ts";

type Kind<T extends Statement["type"]> = Extract<Statement, { type: T }>;
/** How a body ended: at its end, or by leaving the loop or the iteration. */
type End = "through" | "break" | "continue";

/**
 * Renders a template as Python's Jinja does. `line` is the line of the template that is being rendered.
 * Throws TemplateFault (also if the template takes too many steps), UnknownName, RaisedByTemplate.
 */
export class Interpreter {
  readonly #limits = new Limits();
  readonly #evaluator = new Evaluator(this.#limits);

  get line(): number {
    return this.#limits.line;
  }

  render(body: Body, variables: ReadonlyMap<string, Value>): string {
    const scope = new Scope();
    for (const [name, value] of variables) scope.set(name, value);
    return this.#text(body, scope);
  }

  #text(body: Body, scope: Scope): string {
    const out: string[] = [];
    this.#limits.deeper(() => this.#run(body, scope, out));
    return out.join("");
  }

  #run(body: Body, scope: Scope, out: string[]): End {
    for (const statement of body) {
      this.#limits.step(statement.line);
      const end = this.#statement(statement, scope, out);
      if (end !== "through") return end;
    }
    return "through";
  }

  #statement(statement: Statement, scope: Scope, out: string[]): End {
    switch (statement.type) {
      case "Text":
        this.#limits.write(statement.text, out);
        return "through";
      case "Output":
        this.#limits.write(str(this.#evaluator.value(statement.value, scope)), out);
        return "through";
      case "If":
        return this.#if(statement, scope, out);
      case "For":
        this.#for(statement, this.#evaluator.value(statement.over, scope), scope, out, 1);
        return "through";
      case "Block":
        return this.#run(statement.body, scope, out);
      case "With": {
        const inner = new Scope(scope);
        for (const [target, value] of statement.pairs)
          assign(target, this.#evaluator.value(value, inner), inner);
        return this.#run(statement.body, inner, out);
      }
      case "Break":
      case "Continue":
        return statement.type === "Break" ? "break" : "continue";
      default:
        this.#define(statement, scope, out);
        return "through";
    }
  }

  /** Runs a statement that defines a name or captures text. */
  #define(
    statement: Kind<"Set" | "SetBlock" | "Macro" | "CallBlock" | "FilterBlock">,
    scope: Scope,
    out: string[],
  ): void {
    const evaluator = this.#evaluator;
    const inside = () => this.#text(statement.type === "Set" ? [] : statement.body, new Scope(scope));
    const filtered = (filter: Expression | undefined) =>
      filter === undefined ? inside() : evaluator.filtered(filter, inside(), scope);
    switch (statement.type) {
      case "Set":
        assign(statement.target, evaluator.value(statement.value, scope), scope);
        return;
      case "SetBlock":
        assign(statement.target, filtered(statement.filter), scope);
        return;
      case "Macro":
        scope.set(statement.name, this.#macro(statement.name, statement, scope));
        return;
      case "FilterBlock":
        this.#limits.write(str(filtered(statement.filter)), out);
        return;
      case "CallBlock":
        this.#limits.write(this.#callBlock(statement, scope), out);
    }
  }

  #callBlock(statement: Kind<"CallBlock">, scope: Scope): string {
    const { call } = statement;
    const args = this.#evaluator.arguments(call.given, scope);
    const named = new Map([...args.named, ["caller", this.#macro("caller", statement, scope)] as const]);
    return str(this.#evaluator.call(this.#evaluator.value(call.callee, scope), { ...args, named }, "call"));
  }

  #macro(name: string, statement: Kind<"Macro" | "CallBlock">, scope: Scope): Callable {
    const value = (node: Parameters<Evaluator["value"]>[0], inner: Scope) =>
      this.#evaluator.value(node, inner);
    return macro(name, statement.parameters, scope, value, (inner) => this.#text(statement.body, inner));
  }

  #if({ branches, otherwise }: Kind<"If">, scope: Scope, out: string[]): End {
    for (const { test, body, line } of branches) {
      this.#limits.step(line);
      if (truth(this.#evaluator.value(test, scope))) return this.#run(body, scope, out);
    }
    return this.#run(otherwise, scope, out);
  }

  #for(loop: Kind<"For">, over: Value, scope: Scope, out: string[], depth: number): void {
    const items = iterate(over).filter((item) => {
      if (loop.filter === undefined) return true;
      const inner = new Scope(scope);
      assign(loop.target, item, inner);
      return truth(this.#evaluator.value(loop.filter, inner));
    });
    if (items.length === 0) this.#run(loop.otherwise, scope, out);
    const again = ({ positional }: Arguments) => {
      const inner: string[] = [];
      if (depth >= MOST_DEPTH) throw new TemplateFault(`a loop calls itself more than ${MOST_DEPTH} deep`);
      this.#for(
        loop,
        positional.length > 0 ? positional[0]! : new Undefined("loop() needs an argument to loop over"),
        scope,
        inner,
        depth + 1,
      );
      return inner.join("");
    };
    const changes: LoopFacts["changes"] = {};
    for (let i = 0; i < items.length; i++) {
      this.#limits.step(loop.line);
      const turn = new Scope(scope);
      turn.set("loop", new LoopState({ items, depth, changes }, i, loop.recursive ? again : undefined));
      assign(loop.target, items[i]!, turn);
      if (this.#run(loop.body, turn, out) === "break") return;
    }
  }
}
