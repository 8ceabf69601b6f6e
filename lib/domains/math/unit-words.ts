/**
 * Words that the reference drops from the end of an answer as units, odd ones included: single letters, `ab`,
 * `prime`, `east`. "5 cm" is 5, and so is "5 m".
 */
const UNIT_WORDS = [
  "integerpoint|feet|sue|digit|pound|meal|edge|student|children ticket|multiple|east|degree|mph|kmph|ft",
  "m square| m east|sq m|deg|mile|q .|monkey|prime|ratio|profit of rs|rd|o|gm|p . m|lb|tile|per|dm|lt|gain|ab",
  "way|west|a .|b .|c .|d .|e .|f .|g .|h .|t|h|no change|men|soldier|pie|bc|excess|st|inches|noon|cent|by",
  "gal|kmh|c|acre|rise|a . m|th|π r 2|sq|mark|l|toy|coin|sq . m|gallon|° f|profit|minw|yr|women|am|pm|hr",
  "cu cm|square|are|rupee|rounds|cubic|cc|mtr|s|ohm|number|day|hour|minute|min|second|man|woman|sec|cube|mt",
  "sq inch|mp|hectare|more|unit|cu . m|cm 2|rs .|rs|kg|g|month|km|m|cm|mm|apple|liter|loss|yard|pure|year",
  "increase|decrease|d|less|Surface|litre|pi sq m|s .|metre|meter|inch",
].join("|");

/**
 * Matches a digit, brace or space and then one unit word (dots in the list of words match any character, as in the
 * reference).
 */
const TRAILING_UNIT = new RegExp(`(\\d|\\}|\\s)\\s*(?:${UNIT_WORDS})(?:s|es)?\\s*$`);
/** Text from the first `\text{` to the last brace. */
const FROM_FIRST_TEXT = /\\(?:text|mbox)\{.*?\}(?:\^\d|\{\^\d\})?$/;

/**
 * Drops trailing texts and up to two unit words, but never the whole answer. Drops everything from the first `\text{`
 * to the end, so that "5\text{ or rather }7\text{ m}" is 5. Strict mode reads units instead (quantity.ts).
 */
export function dropUnits(text: string): string {
  let kept = text;
  const keep = (candidate: string) => {
    if (candidate !== "") kept = candidate;
  };
  const start = kept.search(FROM_FIRST_TEXT);
  if (start >= 0 && closes(kept.slice(start))) keep(kept.slice(0, start).trim());
  for (let i = 0; i < 2; i++) keep(kept.replace(TRAILING_UNIT, "$1"));
  return kept;
}

/** True if every opened brace is closed: "\text{e}}" includes the brace of a surrounding fraction. */
function closes(text: string): boolean {
  let depth = 0;
  for (const c of text) depth += c === "{" ? 1 : c === "}" ? -1 : 0;
  return depth === 0;
}
