/** A recipe's fields by their paths, each value as JSON. */
export type RecipeFields = ReadonlyMap<string, string>;

const MOST_NAMED = 3;
const MOST_CHARACTERS = 80;

/** Serializes the fields for another node. */
export const spellFields = (fields: RecipeFields): string => JSON.stringify([...fields]);

/** Parses the fields of another node. */
export const readFields = (text: string): Map<string, string> =>
  new Map(JSON.parse(text) as [string, string][]);

/** Names the fields in which a recipe differs from another node's; undefined if the recipes are equal. */
export function differenceFrom(own: RecipeFields, theirs: RecipeFields): string | undefined {
  const paths = [...new Set([...own.keys(), ...theirs.keys()])];
  const differing = paths.filter((path) => own.get(path) !== theirs.get(path));
  if (differing.length === 0) return undefined;
  const named = differing
    .slice(0, MOST_NAMED)
    .map((path) => `${path} is ${valueIn(own, path)} here, ${valueIn(theirs, path)} there`);
  const more = differing.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function valueIn(fields: RecipeFields, path: string): string {
  const value = fields.get(path) ?? "not given";
  return value.length <= MOST_CHARACTERS ? value : `${value.slice(0, MOST_CHARACTERS)}…`;
}
