import { sampleGroups } from "../../samples/index.ts";
import { type Question, runOf } from "../question.ts";
import { samplesOf, shownGroup } from "../run-samples.ts";
import type { GroupsAnswer } from "../wire.ts";
import { filterOf, natural, orderOf } from "./samples.ts";

const MOST = 100;

/** A page of groups with completions that pass a filter; null while the run has none. Throws HONE_ERR_USAGE. */
export async function groups(question: Question): Promise<GroupsAnswer | null> {
  const { query } = question;
  const [filter, order] = [filterOf(query), orderOf(query)];
  const index = await samplesOf(runOf(question));
  if (index === undefined) return null;
  const [offset, limit] = [natural(query, "offset") ?? 0, Math.min(natural(query, "limit") ?? 20, MOST)];
  const found = await sampleGroups(index, filter, { order, offset, limit });
  return { ...found, groups: found.groups.map(shownGroup) };
}
