/** Edits (insert, delete, replace, swap of neighbours) between two short names. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...new Array<number>(b.length).fill(0)]);
  for (let j = 0; j <= b.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replace = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replace, rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, rows[i - 2]![j - 2]! + 1);
      }
      rows[i]![j] = best;
    }
  }
  return rows[a.length]![b.length]!;
}

/** Longest text compared, in characters: the work grows with the product of both lengths. */
const LONGEST_NAME = 128;

/**
 * The known name that was probably meant: at most a third of its letters differ, ignoring case. Undefined for a name
 * of more than 128 characters.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  let best: { name: string; edits: number } | undefined;
  for (const candidate of known) {
    const most = Math.max(1, candidate.length / 3);
    if (Math.abs(candidate.length - name.length) > most) continue; // each missing letter is an edit
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits <= most && (best === undefined || edits < best.edits)) {
      best = { name: candidate, edits };
    }
  }
  return best?.name;
}
