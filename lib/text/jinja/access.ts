import { methodOf } from "./methods.ts";
import {
  isInteger,
  isNumber,
  NamedTuple,
  Namespace,
  numeric,
  str,
  TemplateFault,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** The value that was found, which may be None; otherwise Undefined with Jinja's message: "'dict object' has no attribute 'x'". */
function foundIn(object: Value, name: string, found: Value | undefined): Value {
  if (found !== undefined) return found;
  const whose = object === null ? "'None'" : `'${typeName(object)} object'`;
  return new Undefined(`${whose} has no attribute '${name}'`);
}

/** object.name: a method or attribute, else the element of that name. Throws TemplateFault for undefined objects. */
export function attribute(object: Value, name: string): Value {
  return attributeOr(object, name, () => (object instanceof Map ? object.get(name) : undefined));
}

/** A method or attribute and no element, as the filter `attr` reads it. Throws TemplateFault for undefined objects. */
export const ownAttribute = (object: Value, name: string): Value =>
  attributeOr(object, name, () => undefined);

function attributeOr(object: Value, name: string, otherwise: () => Value | undefined): Value {
  if (object instanceof Undefined) throw new TemplateFault(object.why);
  if (name.startsWith("_"))
    return new Undefined(`access to attribute '${name}' of '${typeName(object)}' object is unsafe.`);
  if (object instanceof Namespace) return foundIn(object, name, object.get(name));
  if (object instanceof NamedTuple) return foundIn(object, name, object[object.names.indexOf(name)]);
  return methodOf(object, name) ?? foundIn(object, name, otherwise());
}

/** object[key]: the element, else a method or attribute of that name. */
export function element(object: Value, key: Value): Value {
  if (object instanceof Undefined) throw new TemplateFault(object.why);
  if (object instanceof Map) {
    const found = object.get(isNumber(key) ? numeric(key) : key);
    if (found !== undefined) return found;
  } else if (
    (isInteger(key) || typeof key === "boolean") &&
    (typeof object === "string" || Array.isArray(object))
  ) {
    const found = typeof object === "string" ? [...object].at(Number(key)) : object.at(Number(key));
    if (found !== undefined) return found;
    return new Undefined(`'${typeName(object)} object' has no element ${str(key)}`);
  }
  if (typeof key === "string") return attribute(object, key);
  return new Undefined(`'${typeName(object)} object' has no element ${str(key)}`);
}

/** The element at a dotted path such as "a.b.0". */
export function atPath(object: Value, path: Value): Value {
  if (isInteger(path)) return element(object, path);
  return str(path)
    .split(".")
    .reduce<Value>((at, part) => element(at, /^\d+$/.test(part) ? Number(part) : part), object);
}
