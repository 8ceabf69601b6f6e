type Row = Readonly<Record<string, unknown>>;

/** Rows of a published set that no kind can read, and the map that converts them to readable rows. */
export interface KnownMap {
  /** True if a row belongs to the set. */
  is(row: Row): boolean;
  /** Describes the rows, and the verifier of the mapped rows. */
  readonly says: string;
  /** The lines of a recipe's source that contain the map. */
  readonly map: string;
}

const isTurns = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.some((turn) => typeof turn === "object" && turn !== null && "content" in turn);
const valueAt = (row: Row, at: number): string => {
  const turns = row["conversations"];
  const turn: unknown = Array.isArray(turns) ? turns[at] : undefined;
  return typeof turn === "object" && turn !== null && "value" in turn ? String(turn.value) : "";
};

/** Sets that need a map, each recognised by the columns of its rows. */
export const KNOWN_MAPS: readonly KnownMap[] = [
  {
    is: (row) => /^logic__/.test(String(row["data_source"])) && "reward_model" in row,
    says: "Rows of Guru's puzzles have an answer that no verifier here judges; a reward of yours compares it (docs/how-to/rewards.md):",
    map: [
      "map: ({ prompt, reward_model, data_source }) => ({",
      "  prompt, family: data_source,",
      "  reference: { answer: reward_model.ground_truth } })",
    ].join("\n"),
  },
  {
    is: (row) => typeof row["system"] === "string" && /^\s*\[\s*[A-Za-z][^\]]*\(/.test(valueAt(row, 1)),
    says: 'Rows of ToolACE are conversations; this map takes the first call for the answer. Read it as kind "xlam":',
    map: [
      "map: ({ system, conversations: [user, call] }) => ({ query: user.value,",
      '  tools: JSON.parse(system.slice(system.indexOf("["), system.lastIndexOf("]") + 1)).map((tool) => ({ ...tool, parameters: tool.parameters?.properties })),',
      '  answers: [...call.value.matchAll(/([A-Za-z_][\\w. ]*)\\(([^()]*)\\)/g)].map(([, name, args]) => ({ name, arguments: Object.fromEntries([...args.matchAll(/(\\w+)=("[^"]*"|\\[[^\\]]*\\]|\\{[^}]*\\}|[^,]+)/g)].map(([, key, value]) => [key, JSON.parse(value)])) })) })',
    ].join("\n"),
  },
  {
    is: (row) => isTurns(row["input"]) && typeof row["output"] === "string",
    says: "Rows of Nemotron's post-training have recorded answers; this map takes what the recorded one puts in a box, and drops the others. The verifier math judges it:",
    map: [
      "map: ({ input, output }) => {",
      "  const answer = /.*\\\\boxed\\{([^{}]+)\\}/s.exec(output)?.[1];",
      "  return answer ? { prompt: input, answer } : null; }",
    ].join("\n"),
  },
];

/** A sentence about rows of a set that needs a map, and the map. Undefined for other rows. */
export function mapHint(row: unknown): string | undefined {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return undefined;
  const known = KNOWN_MAPS.find((one) => one.is(row as Row));
  return known && `${known.says}\n${known.map}`;
}
