/** Agreement of two raters who labelled the same items. */
export interface Agreement {
  /** Number of items that both labelled. */
  readonly count: number;
  /** Share of the items to which both raters gave one label. */
  readonly share: number;
  /**
   * Cohen's kappa: (share - chance) / (1 - chance), where chance is the agreement expected from the raters' label
   * frequencies. Undefined if chance is 1: both gave everything one label. Source: Cohen 1960.
   */
  readonly kappa: number | undefined;
}

/** Computes the agreement over items that both raters labelled; undefined if there are none. */
export function agreementOf(
  pairs: readonly (readonly [string | undefined, string | undefined])[],
): Agreement | undefined {
  const named = pairs.filter(([a, b]) => a !== undefined && b !== undefined);
  const count = named.length;
  if (count === 0) return undefined;
  const share = named.filter(([a, b]) => a === b).length / count;
  const names = new Set(named.map(([a]) => a));
  let chance = 0;
  for (const name of names) {
    const [first, second] = [0, 1].map((side) => named.filter((pair) => pair[side] === name).length);
    chance += (first! / count) * (second! / count);
  }
  return { count, share, kappa: chance === 1 ? undefined : (share - chance) / (1 - chance) };
}

/** Precision and recall of one label. */
export interface Found {
  readonly name: string;
  /** Counts by hand, and by the measured rater. */
  readonly wanted: number;
  readonly given: number;
  /** Undefined if the denominator is 0. */
  readonly precision: number | undefined;
  readonly recall: number | undefined;
}

/** @param pairs [label by hand, label by the measured rater] */
export function foundOf(
  name: string,
  pairs: readonly (readonly [string | undefined, string | undefined])[],
): Found {
  const wanted = pairs.filter(([hand]) => hand === name).length;
  const given = pairs.filter(([, other]) => other === name).length;
  const right = pairs.filter(([hand, other]) => hand === name && other === name).length;
  const part = (of: number) => (of === 0 ? undefined : right / of);
  return { name, wanted, given, precision: part(given), recall: part(wanted) };
}
