/** The words the procedural problems are written in; the quick start's tokenizer has a token for each. */

/** Words that instruction problems use, in lower case. The first five also serve as filler. */
export const NOUNS: readonly string[] = "cat dog sun sea map hat key fox owl ice jam tea".split(" ");

export const TOOLS: readonly string[] = "weather alarm timer send call play book order move open".split(" ");

export const PARAMETERS: readonly string[] = "city unit hour min name song room qty item level".split(" ");

/** Values of the text parameters; the parameters missing here are numbers. */
export const PARAMETER_VALUES: Readonly<Record<string, readonly string[]>> = {
  city: ["Paris", "Rome", "Oslo", "Lima", "Cairo"],
  unit: ["C", "F", "K"],
  name: ["Ann", "Bob", "Eve", "Max", "Zoe"],
  song: ["Blue", "Halo", "Rain", "Gold"],
  room: ["hall", "loft", "attic", "den"],
  item: ["pizza", "soup", "rice", "salad"],
};

const PHRASING =
  "Compute Apply Solve mod Truth table of Fill the grid Use to make Write words include start with end avoid " +
  "uppercase lowercase Tools Query and then return add subtract double triple square negate f(x) f(x)= sorted " +
  "sum max len x[0] x[-1] x[::-1] lambda check ok so next missing row try hmm draft tool step done let me see first";

/** Every whole word of the quick start's vocabulary, in id order; single characters are tokens anyway. */
export const QUICKSTART_LEXICON: readonly string[] = [
  ...NOUNS,
  ...NOUNS.map((word) => word.toUpperCase()),
  ...TOOLS,
  ...PARAMETERS,
  ...Object.values(PARAMETER_VALUES)
    .flat()
    .filter((value) => value.length > 1),
  ...PHRASING.split(" "),
];
