import { parseCsv } from "../../../python/csv.ts";
import { readInt } from "../../../python/number.ts";
import { fields, isBlank, SPACE, trim, WORD } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { noArguments } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import type { ResponseText } from "../text/response-text.ts";
import { trimPunctuation, withoutPunctuation } from "./punctuation.ts";

/** Capitals of Europe north of 45 degrees, from north to south. */
const CAPITALS = (
  "Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam Warsaw " +
  "London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana Zagreb"
).split(" ");

/** The number of African countries minus one: accepted lists differ in what they count as a country. */
const LEAST_COUNTRIES = 52;

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

const MULTIPLES = "14 21 28 35 42 49";

/** Removes accents and all other non-ASCII characters. */
const toAscii = (text: string): string => text.normalize("NFKD").replace(/[^\0-\x7f]/g, "");

const DATE = /^(\p{Nd}{4})-(\p{Nd}{2})-(\p{Nd}{2})$/u;
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

type CalendarDate = readonly [year: number, month: number, day: number];

/** A date as YYYY-MM-DD in Napoleon's lifetime; day 00, month 00 and 29 February of any year are taken too. */
function inNapoleonsLife(text: string): CalendarDate | undefined {
  const parts = DATE.exec(text)
    ?.slice(1)
    .map((digits) => Number(readInt(digits)));
  if (parts === undefined) return undefined;
  const [year, month, day] = [parts[0]!, parts[1]!, parts[2]!];
  const isOut = year < 1769 || year > 1821 || month > 12 || day > (MONTH_DAYS[month - 1] ?? 99);
  return isOut ? undefined : [year, month, day];
}

function isInCalendar([year, month, day]: CalendarDate): boolean {
  const real = new Date(Date.UTC(year, month - 1, day));
  return real.getUTCMonth() === month - 1 && real.getUTCDate() === day;
}

/** A list of dates of Napoleon's life, separated by commas. */
const listsDates =
  (counts: (date: CalendarDate) => boolean): Check =>
  ({ raw }) =>
    trim(raw)
      .split(",")
      .every((text) => {
        const date = inNapoleonsLife(trim(text));
        return date !== undefined && counts(date);
      });

const OPTION = new RegExp(`^[A-Ea-e][.|)][${SPACE}]*[${WORD}]`, "u");
const LABEL = new RegExp(`Question \\p{Nd}+[.|):;]?[${SPACE}]*`, "gu");

/** The text of a question with exactly five options; undefined for any other question. */
function questionText(question: string): string | undefined {
  const lines = question.split("\n").map(trim);
  const options = lines.filter((line) => OPTION.test(line)).length;
  if (options !== 5) return undefined;
  const first = lines.findIndex((line) => OPTION.test(line));
  return trim(lines.slice(0, first).join(" "));
}

/** Four questions, each longer than the previous one. @param counts decides whether a text may be a question */
const growingQuestions =
  (counts: (text: string) => boolean): Check =>
  ({ raw }) => {
    if (!raw.startsWith("Question")) return false;
    const questions = raw
      .split(LABEL)
      .filter((part) => !isBlank(part))
      .map((part) => questionText(trim(part)));
    const lengths = questions.map((text) => (text !== undefined && counts(text) ? [...text].length : -1));
    return lengths.length === 4 && lengths.every((n, k) => n > (lengths[k - 1] ?? -1));
  };

/**
 * The lines from "Zimbabwe" on, if there are at least 52 and they are sorted in descending order; otherwise an empty
 * list.
 */
function countriesBackwards({ raw }: ResponseText): string[] {
  const lines = raw
    .split("\n")
    .map(trimPunctuation)
    .filter((line) => line !== "");
  const start = lines.findIndex((line) => line.includes("Zimbabwe"));
  const countries = start < 0 ? [] : lines.slice(start).map(toAscii);
  const sorted = countries.every((name, k) => k === 0 || name <= countries[k - 1]!);
  return sorted && countries.length >= LEAST_COUNTRIES ? countries : [];
}

function alphabetOfSentences({ sentences }: ResponseText): boolean {
  return sentences.length === 26 && sentences.every((text, k) => trim(text).toLowerCase()[0] === LETTERS[k]);
}

function capitalsInOrder({ raw }: ResponseText): boolean {
  const capitals = toAscii(raw)
    .split(",")
    .map(trim)
    .filter((name) => name !== "");
  return capitals.length === CAPITALS.length && capitals.every((name, k) => name === CAPITALS[k]);
}

const isWritten = (text: string): boolean => !isWordless(text);

/** @param counts decides whether a text may be a cell */
const cityTable =
  (counts: (cell: string) => boolean): Check =>
  ({ raw }) => {
    const rows = parseCsv(raw, ",");
    if (rows?.length !== 8 || rows[0]!.join("\n") !== "ID\nCountry\nCity\nYear\nCount") return false;
    return rows.every((row) => row.length === 5 && row.every(counts));
  };

/** A header of these names, each bare or quoted, with blanks after the delimiter. */
function header(names: readonly string[], delimiter: string): RegExp {
  return new RegExp(`^${names.map((name) => `(?:${name}|"${name}")`).join(delimiter)}$`);
}

const PRODUCT_HEADER = header(["ProductID", "Category", "Brand", "Price", "Stock"], ",[ \\t]*");
const STUDENT_HEADER = header(["StudentID", "Subject", "Grade", "Semester", "Score"], "\\t *");

/** Rows of the table with their quotes kept, below a valid header; undefined if there is none. */
function quotedTable(raw: string, pattern: RegExp, delimiter: string): string[][] | undefined {
  if (!pattern.test(trim(raw.split("\n", 1)[0]!))) return undefined;
  return parseCsv(raw.replaceAll('"', '"""'), delimiter);
}

const SPECIAL = new RegExp(`[^${WORD}${SPACE}]`, "u");

/** True for a cell that contains a word or quoted special characters. */
const isFilled = (field: string): boolean => isWritten(field) || quotesSpecial(field);

/**
 * True if the first line begins with a quote and has another one, with a character between them that is neither a
 * word character nor a space.
 */
function quotesSpecial(field: string): boolean {
  const line = field.split("\n", 1)[0]!;
  if (!line.startsWith('"')) return false;
  return SPECIAL.test(line.slice(1, Math.max(1, line.lastIndexOf('"'))));
}

/**
 * @param checked the rows to examine; the reference stops at the row with the special character
 * @param counts decides whether a text may be a cell
 */
const productTable =
  (checked: (rows: string[][], special: number) => string[][], counts: (cell: string) => boolean): Check =>
  ({ raw }) => {
    const rows = quotedTable(raw, PRODUCT_HEADER, ",");
    if (rows?.length !== 15) return false;
    const special = rows.findIndex((row) => row.some(quotesSpecial));
    return (
      special > 0 &&
      checked(rows, special)
        .slice(1)
        .every((row) => row.length === 5 && row.every(counts))
    );
  };

/** @param counts decides whether a text may be a cell */
const studentTable =
  (counts: (cell: string) => boolean): Check =>
  ({ raw }) => {
    const rows = quotedTable(raw, STUDENT_HEADER, "\t");
    const quoted = (field: string) => trim(field).startsWith('"') && trim(field).endsWith('"');
    return (
      rows?.length === 4 &&
      rows.every((row) => row.length === 5 && row.every((cell) => quoted(cell) && counts(cell)))
    );
  };

const any = (): boolean => true;

/** Tasks with an almost fixed answer. Source: IFBench, Pyatkin et al. 2025, out-of-domain constraints. */
export const CUSTOM: ConstraintTable = {
  "custom:multiples": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        raw.match(/\p{Nd}+/gu)?.join(" ") === MULTIPLES,
  ),
  "custom:mcq_count_length": constraint(
    noArguments,
    () => growingQuestions(isWritten),
    () => growingQuestions(any),
  ),
  // The reference accepts one country in place of 52.
  "custom:reverse_newline": constraint(
    noArguments,
    () => (response) => new Set(countriesBackwards(response).filter(isWritten)).size >= LEAST_COUNTRIES,
    () => (response) => countriesBackwards(response).length > 0,
  ),
  "custom:word_reverse": constraint(
    noArguments,
    () =>
      ({ lower }) =>
        fields(withoutPunctuation(lower)).reverse().join(" ").includes("bald eagle"),
  ),
  "custom:character_reverse": constraint(
    noArguments,
    () =>
      ({ lower }) =>
        lower.includes("elgae dlab"),
  ),
  "custom:sentence_alphabet": constraint(noArguments, () => alphabetOfSentences),
  "custom:european_capitals_sort": constraint(noArguments, () => capitalsInOrder),
  "custom:csv_city": constraint(
    noArguments,
    () => cityTable(isWritten),
    () => cityTable(any),
  ),
  "custom:csv_special_character": constraint(
    noArguments,
    () => productTable((rows) => rows, isFilled),
    () => productTable((rows, special) => rows.slice(0, special + 1), any),
  ),
  "custom:csv_quotes": constraint(
    noArguments,
    () => studentTable(isWritten),
    () => studentTable(any),
  ),
  "custom:date_format_list": constraint(
    noArguments,
    () => listsDates(isInCalendar),
    () => listsDates(() => true),
  ),
};
