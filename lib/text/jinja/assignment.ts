import type { Scope } from "./scope.ts";
import type { Target } from "./syntax.ts";
import { iterate, Namespace, TemplateFault, typeName, type Value } from "./values.ts";

/** Assigns a value to a target: a name of `scope`, an attribute of a namespace, or several names, one item each. */
export function assign(target: Target, value: Value, scope: Scope): void {
  if (target.type === "Name") scope.set(target.name, value);
  else if (target.type === "Attribute") setAttribute(scope.get(target.object), target.name, value);
  else unpack(target.targets, iterate(value), scope);
}

function setAttribute(object: Value, name: string, value: Value): void {
  if (!(object instanceof Namespace) || object.kind !== "namespace")
    throw new TemplateFault(`cannot assign attribute on non-namespace object (a ${typeName(object)})`);
  object.set(name, value);
}

function unpack(targets: readonly Target[], items: readonly Value[], scope: Scope): void {
  if (items.length < targets.length) {
    throw new TemplateFault(`not enough values to unpack (expected ${targets.length}, got ${items.length})`);
  }
  if (items.length > targets.length)
    throw new TemplateFault(`too many values to unpack (expected ${targets.length})`);
  targets.forEach((target, i) => {
    assign(target, items[i]!, scope);
  });
}
