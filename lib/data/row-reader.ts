import type { z } from "zod";
import type { ChatMessage, DomainName } from "../records.ts";
import type { Content } from "./content.ts";
import type { RawRow } from "./raw-row.ts";
import type { RowMap, WrittenMap } from "./row-map.ts";

/** The content of a row, before it has an id and a side of the split. */
export interface RowDraft {
  /** Content of the row without any template: decides the side of the split and identifies duplicates. */
  readonly content: Content;
  /** Question for the policy. */
  readonly question: string;
  /** As of a Problem. */
  readonly messages?: readonly ChatMessage[];
  readonly tools?: string;
  readonly family: string;
  /** 0 = easiest, and where the set says nothing. */
  readonly level: number;
  readonly reference: unknown;
  /** As of a Problem. */
  readonly columns?: Readonly<Record<string, unknown>>;
  /** The column that says what is asked, where rows of the kind differ. */
  readonly askedFrom?: string;
  /** Field of the row that held the answer, where rows of the kind differ: "answer, after ####". */
  readonly answerFrom?: string;
  /**
   * Responses that its verifier must take for right, as far as the row knows one: the gold answer in each form the
   * question may ask for. One accepted form is enough.
   */
  readonly gold?: () => readonly string[];
}

/** The outcome of a row: a problem; damaged; or sound but not wanted by the options. */
export type RowOutcome = RowDraft | { readonly bad: string } | { readonly leftOut: string };

/** Options every data set takes. */
export interface DatasetOptions {
  /** A file, a folder with everything below it, or a list of those. */
  readonly path: string | readonly string[];
  /** For a folder, the files whose name begins with this: "train". */
  readonly split?: string | undefined;
  /** Template of the question, with the row's text in place of {task}. */
  readonly template?: string | undefined;
  /** A file that `hone data check --drops` wrote: its rows are left out. */
  readonly drops?: string | undefined;
  /**
   * "permutation" (default): training takes every row once, in a random order, then again in another. "uniform": each
   * problem is drawn from all training rows, with replacement.
   */
  readonly draw?: "permutation" | "uniform" | undefined;
  /** Makes of each row the one that is read, or null to drop it; a recipe keeps its name or module, with a hash. */
  readonly map?: RowMap | WrittenMap | undefined;
  /** Held-out rows: a share in (0, 1), a number of rows, or a file of content keys. Default 0.1. */
  readonly heldOut?: number | string | undefined;
}

/** A schema for each option of a kind that not every kind takes. */
export type OptionSchemas<Options> = {
  readonly [K in Exclude<keyof Options, keyof DatasetOptions>]-?: z.ZodType<Options[K]>;
};

/** One published data set: how its rows become problems of one domain. */
export interface RowReader<Options> {
  readonly domain: DomainName;
  /** Name in the registry of verifiers. */
  readonly verifier: string;
  /** Options of a recipe beside DatasetOptions. */
  readonly options: OptionSchemas<Options>;
  /** A shorter name for "kind:path". */
  readonly alias?: string;
  /** For evaluation only: every row is held out. */
  readonly benchmark?: true;
  /** Columns of its parquet files that are read; all when left out. */
  readonly columns?: readonly string[];
  /** Makes the function that reads one row after another. Throws HONE_ERR_DATA when a file beside them is damaged. */
  open(options: Options): (raw: RawRow) => RowOutcome;
  /** A file name it takes, and a few rows made for this package in the published shape, to try a recipe on. */
  readonly samples?: { readonly file: string; rows(): readonly unknown[] | Promise<readonly unknown[]> };
  /** Returns true for files that hold rows of the set; all when left out. */
  takes?(file: string): boolean;
}

/**
 * Parses a row, or the field `at` of one, by its schema; a fault names the first wrong field, in words that can be
 * counted.
 */
export function readFields<T>(
  schema: z.ZodType<T>,
  value: unknown,
  at?: string,
): T | { readonly bad: string } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = issue.path.map((key) => (typeof key === "number" ? "#" : String(key)));
  return { bad: `${[at ?? [], path].flat().join(".") || "row"}: ${faultOf(issue, value)}` };
}

/** Of a field that may be of several types and is of none of them, zod says neither; of an empty text, its length. */
function faultOf({ code, message, path, ...issue }: z.core.$ZodIssue, value: unknown): string {
  if (code === "too_small" && "origin" in issue && issue.origin === "string") return "empty";
  if (code !== "invalid_union" || message !== "Invalid input") return message.toLowerCase();
  const found = path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)[key], value);
  return `invalid input, received ${Array.isArray(found) ? "array" : found === null ? "null" : typeof found}`;
}

/** As readFields, for a field that holds JSON as text. */
export function readJson<T>(schema: z.ZodType<T>, text: string, at: string): T | { readonly bad: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { bad: `${at}: not JSON` };
  }
  return readFields(schema, value, at);
}

export function isBad(value: unknown): value is { readonly bad: string } {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "bad");
}

/** A template with its text; a function as replacement because the text may hold "$&". */
export function fill(template: string, task: string): string {
  return template.replace("{task}", () => task);
}
