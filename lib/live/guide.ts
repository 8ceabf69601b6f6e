import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../package-root.ts";
import type { GuideRow } from "./wire.ts";

let known: GuideRow[] | undefined;

/** The rows of docs/reference/metrics.md; empty if the package was installed without docs. */
export function guideRows(): readonly GuideRow[] {
  known ??= parseGuide(readGuide());
  return known;
}

/** Parses the tables of a page whose rows are: name in backquotes, definition, unit, when it is absent. */
export function parseGuide(page: string): GuideRow[] {
  const rows: GuideRow[] = [];
  let section = "";
  for (const line of page.split("\n")) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const cells = /^\| `([^`]+)` \| (.*) \| (.*) \| .* \|$/.exec(line);
    if (cells === null) continue;
    const [, name, definition, unit] = cells;
    rows.push({ name: name!, definition: plain(definition!), unit: plain(unit!), section });
  }
  return rows;
}

/** The text without Markdown markup. */
const plain = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replace(/[`*]/g, "");

function readGuide(): string {
  try {
    return readFileSync(join(packageRoot(), "docs/reference/metrics.md"), "utf8");
  } catch {
    return "";
  }
}
