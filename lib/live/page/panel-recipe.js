import { el, fill, table } from "./dom.js";
import { newestAnswer } from "./newest-answer.js";

/** @import { Panel } from "./page.js" */

/** @type {Panel} */
export const recipePanel = {
  id: "recipe",
  title: "Recipe",
  mount(root, page) {
    const ask = async () => {
      const runs = page.visibleRuns();
      return {
        runs,
        manifests: await Promise.all(runs.map(({ run }) => page.connection.ask("recipe", { run }))),
      };
    };
    const show = newestAnswer(ask, ({ runs, manifests }) => {
      const flat = manifests.map((manifest) => flattened(/** @type {{}} */ (manifest ?? {})));
      const names = [...new Set(flat.flatMap((fields) => [...fields.keys()]))];
      const rows = names.map((name) => [name, ...flat.map((fields) => fields.get(name) ?? "–")]);
      const differing = rows.filter(([, first, ...others]) => others.some((other) => other !== first));
      const head = ["field", ...runs.map(({ run }) => page.runLabel(run))];
      fill(
        root,
        runs.length > 1 && el("h2", {}, "What differs"),
        runs.length > 1 && table(head, differing),
        el("h2", {}, "Resolved recipe"),
        table(head, rows),
      );
    });
    const start = () => void show().catch((error) => page.say(error));
    start();
    return { update: (what) => void ((what === "view" || what === "all") && start()) };
  },
};

/** Fields by path, values as JSON. @param {unknown} value @param {string} [path] @returns {Map<string, string>} */
export function flattened(value, path = "") {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return new Map([[path, JSON.stringify(value)]]);
  const fields = Object.entries(value).map(([name, inner]) =>
    flattened(inner, path === "" ? name : `${path}.${name}`),
  );
  return new Map(fields.flatMap((field) => [...field]));
}
