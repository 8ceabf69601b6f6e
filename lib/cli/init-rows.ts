import { counted, type KeptRow, UNASKED, unusedTexts } from "../data/index.ts";
import {
  type DatasetSpec,
  filterDataset,
  kindFor,
  loadBuiltIn,
  loadMap,
  NAME_THE_KIND,
  NEEDS_MAP,
  readerOf,
  referenceFault,
  tellKind,
  VERIFIERS,
} from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import { isPathAlone, localPaths } from "../orchestration/index.ts";

/**
 * The reward for the rows in the recipe's form. The domain is named after a verifier, which then judges it by
 * default.
 */
export type InitReward =
  | { readonly verifier: string }
  | { readonly python: string }
  | { readonly module: string };

/** Facts about the first rows of a data set. */
export interface InitRows {
  /** Name of the domain in the recipe: the name of its verifier, if it has one. */
  readonly domain: string;
  /** The source in the recipe's form. */
  readonly source: string | { readonly kind: string; readonly path: string; readonly template: string };
  /** True if the prompt template asks for the answer's form because the rows do not. */
  readonly isAskedFor: boolean;
  readonly looked: number;
  readonly kept: readonly KeptRow[];
  /** Sentences for the user: how many rows are not used, and why. */
  readonly unused: readonly string[];
  /** Columns used for the question, and where the answers were found. */
  readonly columns: readonly string[];
}

/** Asks for the answer in the form that mathematics is judged in. */
const ASKS_FOR_BOX = "{task}\n\nPut your final answer in \\boxed{}.";
/** Number of rows that are examined; a multiple of the rows that a filter reads before it gives them, which it counts. */
const LOOKED_AT = 256;
/** Name of the domain whose rows a custom reward judges. */
const OWN_DOMAIN = "mine";

/**
 * Reads the first rows of the data, downloading them from the Hub if needed, and, if no reward is given, finds the
 * verifier that can read their answers. Throws HONE_ERR_DATA if no row can be used, HONE_ERR_USAGE if no verifier
 * fits.
 */
export async function lookAtRows(data: string, reward: InitReward | undefined): Promise<InitRows> {
  const { paths } = await localPaths(data);
  if (reward !== undefined && !("verifier" in reward)) {
    const spec = await kindFor(paths, { domain: OWN_DOMAIN, needsReference: false });
    return expectRows(await read(spec, undefined), data, OWN_DOMAIN, spec);
  }
  let advice: string | undefined;
  const told = await tellKind(paths, reward?.verifier).catch((error: unknown): DatasetSpec => {
    advice = unknownKindAdvice(error);
    return { kind: "jsonl", path: paths, verifier: reward?.verifier ?? "math" };
  });
  const verifier = reward?.verifier ?? readerOf(told).verifier;
  const spec: DatasetSpec = told.kind === "jsonl" ? { ...told, domain: verifier, verifier } : told;
  const rows = await read(spec, verifier);
  const isUnreadable = advice === ""; // there is nothing to say about a first row
  if (rows.kept.length === 0 && !isUnreadable) throw noVerifier(data, reward, rows, advice);
  return expectRows(rows, data, told.kind === "jsonl" ? verifier : readerOf(spec).domain, spec);
}

/**
 * Returns what an error about rows of no known kind says about the first row. Throws any other error again, and one
 * whose hint has the map that the rows need.
 */
function unknownKindAdvice(error: unknown): string {
  const isUnknown = HoneError.is(error) && error.code === "HONE_ERR_USAGE";
  if (!isUnknown || error.message.endsWith(NEEDS_MAP)) throw error;
  return error.hint?.split(NAME_THE_KIND, 1)[0] ?? "";
}

type Read = Pick<InitRows, "looked" | "kept" | "unused">;

async function read(given: DatasetSpec, verifier: string | undefined): Promise<Read> {
  const spec = await loadMap(given);
  const judge = verifier === undefined ? undefined : await loadBuiltIn(verifier);
  const filter = filterDataset(spec, ({ reference }) => referenceFault(judge, reference));
  const kept: KeptRow[] = [];
  for await (const row of filter.rows()) {
    kept.push(row);
    if (kept.length >= LOOKED_AT) break;
  }
  return { looked: filter.census.rows, kept, unused: unusedTexts(filter.census.tallies()) };
}

function expectRows(
  { looked, kept, unused }: Read,
  data: string,
  domain: string,
  { kind }: DatasetSpec,
): InitRows {
  if (kept.length === 0)
    throw new HoneError("HONE_ERR_DATA", `${data}: none of ${counted(looked, "row")} can be used`, {
      hint: unused.join("; ") || `\`hone data check ${data}\` says why, row by row.`,
    });
  const isAskedFor = kept.every(({ answerFrom }) => answerFrom?.endsWith(UNASKED));
  const plain = isPathAlone(data) ? data : `${kind}:${data}`;
  const source = isAskedFor ? { kind, path: data, template: ASKS_FOR_BOX } : plain;
  const columns = new Set(kept.flatMap(({ askedFrom, answerFrom }) => [askedFrom, answerFrom]));
  const named = [...columns].flatMap((column) => (column === undefined ? [] : [column.split(",", 1)[0]!]));
  return {
    domain,
    source,
    isAskedFor,
    looked,
    unused,
    kept: isAskedFor ? kept.map(asking) : kept,
    columns: [...new Set(named.map((name) => name.split(";", 1)[0]!))],
  };
}

/** The row with its question in the prompt template. */
const asking = ({ messages: _, ...row }: KeptRow): KeptRow => ({
  ...row,
  question: ASKS_FOR_BOX.replace("{task}", () => row.question),
});

function noVerifier(
  data: string,
  reward: InitReward | undefined,
  { looked, unused }: Read,
  advice: string | undefined,
): HoneError {
  const who =
    reward === undefined
      ? "a verifier of this package"
      : `the verifier ${(reward as { verifier: string }).verifier}`;
  const names = VERIFIERS.map(({ name }) => name).join(", ");
  const reasons = unused.length > 0 ? `: ${unused.join("; ")}` : "";
  const message = `${data}: ${who} can judge none of ${counted(looked, "row")}${reasons}`;
  return new HoneError("HONE_ERR_USAGE", message, {
    hint: `${advice ?? ""}Say what judges them: --reward rewards.py#name, --reward ./mine.ts#name, or a verifier (${names}).`,
  });
}
