import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { PEOPLE } from "../../drawing/vocabulary.ts";

/** One bit per person, set for those who tell the truth. */
type World = number;

interface Claim {
  readonly speaker: number;
  readonly text: string;
  holds(world: World): boolean;
}

const honest = (world: World, person: number): boolean => ((world >> person) & 1) === 1;

function drawClaim(random: CounterRandom, names: readonly string[], world: World, compound: boolean): Claim {
  const [speaker, a, b] = random.sample(
    names.map((_, i) => i),
    3,
  ) as [number, number, number];
  const forms: Omit<Claim, "speaker">[] = [
    { text: `${names[a]} tells the truth`, holds: (w) => honest(w, a) },
    { text: `${names[a]} lies`, holds: (w) => !honest(w, a) },
    {
      text: `at least one of ${names[a]} and ${names[b]} lies`,
      holds: (w) => !honest(w, a) || !honest(w, b),
    },
    { text: `${names[a]} and ${names[b]} are of the same kind`, holds: (w) => honest(w, a) === honest(w, b) },
  ];
  const said = forms
    .slice(0, compound ? 4 : 2)
    .filter(({ holds }) => holds(world) === honest(world, speaker));
  return said.length > 0 ? { speaker, ...random.choice(said) } : drawClaim(random, names, world, compound);
}

/** The worlds in which exactly the truth-tellers' claims hold and the known person is of the known kind. */
function worlds(count: number, claims: readonly Claim[], known: number, kind: boolean): World[] {
  return Array.from({ length: 2 ** count }, (_, world) => world).filter(
    (world) =>
      honest(world, known) === kind &&
      claims.every(({ speaker, holds }) => holds(world) === honest(world, speaker)),
  );
}

/**
 * Puzzles about truth-tellers and liars. Adds claims until exactly one assignment is consistent, which it checks by
 * trying all.
 */
export const webOfLies: PuzzleGenerator = {
  task: "web_of_lies",
  measure: "people",

  draw(random, level) {
    const names = random.sample(PEOPLE, atLevel([3, 4, 6, 8], level));
    const world = random.int(0, 2 ** names.length - 1);
    const known = random.int(0, names.length - 1);
    const kind = honest(world, known);
    const claims: Claim[] = [];
    while (worlds(names.length, claims, known, kind).length > 1) {
      const claim = drawClaim(random, names, world, level > 0);
      if (!claims.some(({ speaker, text }) => speaker === claim.speaker && text === claim.text))
        claims.push(claim);
    }
    const asked = random.sample(
      names.map((_, i) => i),
      atLevel([1, 2, 3, 4], level),
    );
    const answer = asked.map((person) => (honest(world, person) ? "yes" : "no")).join(", ");
    const told = [`${names[known]} always ${kind ? "tells the truth" : "lies"}.`].concat(
      claims.map(({ speaker, text }) => `${names[speaker]} says: ${text}.`),
    );
    return {
      question: `Each of ${names.join(", ")} either always tells the truth or always lies.\n\n${random.shuffle(told).join("\n")}\n\n${asked.map((person) => `Does ${names[person]} tell the truth?`).join(" ")} End with a line of this form, one word for each question: The answer is **yes, no, yes, no, yes**.`,
      solution: `The answer is **${answer}**.`,
      answer,
      metadata: { num_person: names.length, statements: told },
      effort: names.length,
    };
  },
};
