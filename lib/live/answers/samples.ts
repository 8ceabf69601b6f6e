import { HoneError } from "../../errors.ts";
import type { Verdict } from "../../records.ts";
import {
  ORDERS,
  type Order,
  parseRange,
  query,
  type Range,
  type SampleFilter,
  wholeSamples,
} from "../../samples/index.ts";
import { type Question, runOf } from "../question.ts";
import { excerptOf, isReadable, samplesOf } from "../run-samples.ts";
import type { SamplesAnswer } from "../wire.ts";

const EXCERPT_CHARS = 160;
const MOST = 200;

/** A page of completions that pass a filter; null while the run has none. Throws HONE_ERR_USAGE. */
export async function samples(question: Question): Promise<SamplesAnswer | null> {
  const filter = filterOf(question.query);
  const index = await samplesOf(runOf(question));
  if (index === undefined) return null;
  const [offset, limit] = [natural(question.query, "offset") ?? 0, natural(question.query, "limit") ?? 50];
  const found = query(index, filter, {
    order: orderOf(question.query),
    offset,
    limit: Math.min(limit, MOST),
  });
  const texts = await wholeSamples(
    index,
    found.samples.filter(isReadable).map(({ row }) => row),
  );
  const excerpts = new Map(texts.map((one) => [one.row, excerptOf(one, EXCERPT_CHARS)]));
  return {
    total: found.total,
    samples: found.samples.map((one) => ({
      ...one,
      excerpt: excerpts.get(one.row) ?? `${one.chars} characters`,
    })),
  };
}

/** Conditions of the address. Throws HONE_ERR_USAGE. */
export function filterOf(asked: URLSearchParams): SampleFilter {
  const statuses = asked.getAll("status") as Verdict["status"][];
  return {
    steps: range(asked, "steps"),
    domain: asked.get("domain") || undefined,
    problem: natural(asked, "problem"),
    group: natural(asked, "group"),
    attempt: natural(asked, "attempt"),
    statuses: statuses.length > 0 ? statuses : undefined,
    tokens: range(asked, "tokens"),
    versions: range(asked, "versions"),
    truncated: asked.has("truncated"),
    wrongButLong: asked.has("wrongButLong"),
    flippedSince: natural(asked, "flippedSince"),
  };
}

/** Throws HONE_ERR_USAGE. */
export function orderOf(asked: URLSearchParams): Order {
  const name = asked.get("order") || "newest";
  if ((ORDERS as readonly string[]).includes(name)) return name as Order;
  throw new HoneError("HONE_ERR_USAGE", `order=${name}: it must be one of ${ORDERS.join(", ")}`);
}

function range(asked: URLSearchParams, name: string): Range | undefined {
  const text = asked.get(name) ?? "";
  if (text === "") return undefined;
  const found = parseRange(text);
  if (found === undefined)
    throw new HoneError("HONE_ERR_USAGE", `${name}=${text}: a range is like 7, 7.., ..7 or 7..12`);
  return found;
}

/** Undefined if the parameter is missing or empty. */
export function natural(asked: URLSearchParams, name: string): number | undefined {
  const text = asked.get(name) ?? "";
  if (text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HoneError("HONE_ERR_USAGE", `${name}=${text}: not a whole number`);
}
