import { Undefined, type Value } from "./values.ts";

/** Names and their values; looks up missing ones in the outer scope. */
export class Scope {
  readonly #values = new Map<string, Value>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }

  get(name: string): Value {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.#outer) {
      const value = scope.#values.get(name);
      if (value !== undefined) return value;
    }
    return new Undefined(`'${name}' is undefined`);
  }
}
