/** A recipe's fields by their paths, each value as JSON. */
export type RecipeFields = ReadonlyMap<string, string>;

const MOST_NAMED = 3;
const MOST_CHARACTERS = 80;

/** For another node. */
export const spellFields = (fields: RecipeFields): string => JSON.stringify([...fields]);

/** How a recipe differs from another node's, its fields by name; undefined where it does not. @param other as spelled */
export function differenceFrom(own: RecipeFields, other: string): string | undefined {
  const theirs: RecipeFields = new Map(JSON.parse(other) as [string, string][]);
  const paths = [...new Set([...own.keys(), ...theirs.keys()])];
  const differing = paths.filter((path) => own.get(path) !== theirs.get(path));
  if (differing.length === 0) return undefined;
  const named = differing
    .slice(0, MOST_NAMED)
    .map((path) => `${path} is ${valueIn(own, path)}, there ${valueIn(theirs, path)}`);
  const more = differing.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function valueIn(fields: RecipeFields, path: string): string {
  const value = fields.get(path) ?? "not given";
  return value.length <= MOST_CHARACTERS ? value : `${value.slice(0, MOST_CHARACTERS)}…`;
}
