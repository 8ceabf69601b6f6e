/** Fields of a recipe by their paths, each value as JSON. Lists are one value. */
export function fieldsOf(recipe: unknown, path = ""): Map<string, string> {
  if (typeof recipe !== "object" || recipe === null || Array.isArray(recipe))
    return new Map([[path, JSON.stringify(recipe) ?? "not given"]]);
  const inner = Object.entries(recipe).map(([key, value]) =>
    fieldsOf(value, path === "" ? key : `${path}.${key}`),
  );
  return new Map(inner.flatMap((fields) => [...fields]));
}

/** Fields that are left out of the list of differences, because tables show them in columns of their own. */
const NOT_THE_RECIPE = new Set(["name", "seed"]);
const ABSENT = "not given";

/** Paths whose values differ between the recipes, in the recipes' order; excludes `name` and `seed`. */
export function differingFields(recipes: readonly ReadonlyMap<string, string>[]): string[] {
  const paths = new Set(recipes.flatMap((fields) => [...fields.keys()]));
  return [...paths].filter(
    (path) => !NOT_THE_RECIPE.has(path) && new Set(recipes.map((fields) => fields.get(path))).size > 1,
  );
}

/** The values of a field in some recipes, each once. */
export const valuesOf = (recipes: readonly ReadonlyMap<string, string>[], path: string): string[] => [
  ...new Set(recipes.map((fields) => fields.get(path) ?? ABSENT)),
];
