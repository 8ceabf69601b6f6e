import { el } from "./dom.js";

/**
 * A list to choose from; the empty value is shown as "all".
 * @param {string} label @param {string} name @param {readonly string[]} values @param {string | undefined} value
 * @param {(value: string) => void} choose @param {(value: string) => string} [textOf]
 */
export function choice(label, name, values, value, choose, textOf = (text) => text.replace("_", " ")) {
  const options = values.map((one) =>
    el("option", { value: one, selected: one === (value ?? values[0]) }, one === "" ? "all" : textOf(one)),
  );
  return el(
    "label",
    {},
    label,
    el(
      "select",
      {
        name,
        onchange: (/** @type {Event} */ event) =>
          choose(/** @type {HTMLSelectElement} */ (event.target).value),
      },
      ...options,
    ),
  );
}
