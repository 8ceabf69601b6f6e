import { CARDS, inUnits, type TableRow } from "../plan/index.ts";

/**
 * Numbers of tokens are rounded down to thousands, so that the table in the documentation does not change when a
 * trainer's arrays grow by a few bytes.
 */
const THOUSAND = 1000;

/**
 * The table of docs/reference/models.md, "What fits one card": one row per model and way to train it, one
 * column per card, tokens in whole thousands.
 */
export function planTableText(rows: readonly TableRow[]): string {
  const head = ["model", "trained", "without keys and values", ...CARDS.map((card) => `${card} GB`)];
  const cell = (tokens: number) =>
    tokens === 0 ? "–" : (Math.floor(tokens / THOUSAND) * THOUSAND).toLocaleString("en");
  const lines = rows.map(({ model, way, needed, tokens }) => [
    model.split("/").at(-1)!,
    way,
    inUnits(needed),
    ...tokens.map(cell),
  ]);
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
