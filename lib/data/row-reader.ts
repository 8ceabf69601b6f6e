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
  /** As the field of the same name of Problem. */
  readonly messages?: readonly ChatMessage[];
  readonly tools?: string;
  readonly family: string;
  /** 0 = easiest, also if the set has no levels. */
  readonly level: number;
  readonly reference: unknown;
  /** As the field of the same name of Problem. */
  readonly columns?: Readonly<Record<string, unknown>>;
  /** Column that holds the question, if rows of the kind differ. */
  readonly askedFrom?: string;
  /** Field of the row that held the answer, if rows of the kind differ: "answer, after ####". */
  readonly answerFrom?: string;
  /**
   * Responses that the row's verifier must accept, as far as the row determines one: the gold answer in each form the
   * question may ask for. The check passes if one form is accepted.
   */
  readonly gold?: () => readonly string[];
}

/** The outcome of a row: a problem; a damaged row; or a sound row that the options leave out. */
export type RowOutcome = RowDraft | { readonly bad: string } | { readonly leftOut: string };

/** Options every data set takes. */
export interface DatasetOptions {
  /** A file, a folder with everything below it, or a list of those. */
  readonly path: string | readonly string[];
  /** For a folder: read only files whose name begins with this, such as "train". */
  readonly split?: string | undefined;
  /** Template of the question, with the row's text in place of {task}. */
  readonly template?: string | undefined;
  /** A file written by `hone data check --drops`: its rows are left out. */
  readonly drops?: string | undefined;
  /**
   * "permutation" (default): training takes every row once, in a random order, then again in another. "uniform": each
   * problem is drawn from all training rows, with replacement.
   */
  readonly draw?: "permutation" | "uniform" | undefined;
  /** Converts each row before it is read, or returns null to drop it; a recipe records its name or module, with a hash. */
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
  /** Columns to read from its parquet files; default: all. */
  readonly columns?: readonly string[];
  /** Creates the function that reads rows one by one. Throws HONE_ERR_DATA if an accompanying file is damaged. */
  open(options: Options): (raw: RawRow) => RowOutcome;
  /** A file name that the reader accepts, and a few made-up rows in the published form, for trying a recipe. */
  readonly samples?: { readonly file: string; rows(): readonly unknown[] | Promise<readonly unknown[]> };
  /** Returns true for files that hold rows of the set; default: all files. */
  takes?(file: string): boolean;
}

/** Parses a row, or the field `at` of one, by its schema; a fault names the first wrong field, in words that can be counted. */
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

/** For a value that matches no type of a union, or for an empty text, zod's message does not name the fault. */
function faultOf({ code, message, path, ...issue }: z.core.$ZodIssue, value: unknown): string {
  if (code === "too_small" && "origin" in issue && issue.origin === "string") return "empty";
  if (code !== "invalid_union" || message !== "Invalid input") return message.toLowerCase();
  const found = path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)[key], value);
  return `invalid input, received ${Array.isArray(found) ? "array" : found === null ? "null" : typeof found}`;
}

/** Like readFields, for a field that holds JSON text. */
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

/** Inserts the text into a template; uses a replacement function because the text may contain "$&". */
export function fill(template: string, task: string): string {
  return template.replace("{task}", () => task);
}
