import { isUtf8 } from "node:buffer";
import { HoneError } from "../errors.ts";
import { elementsOf, membersOf } from "../shared/text/json-text.ts";

/** Longer files are read as lines, since an object is examined as one string. */
const LONGEST_OBJECT_BYTES = 1 << 28;
/** Names under which a file that is one object has its rows. */
const ROWS = ["data", "rows", "train", "examples", "instances", "items", "samples", "records"];

/**
 * The JSON array of rows in a file that is one object: its list of objects under a name in ROWS, as in
 * `{"version": 1, "data": [{…}, …]}`, or an array of the object itself, which then is a row. Undefined for
 * one object a line, and for text that is not JSON. Throws HONE_ERR_DATA, naming the file and its columns,
 * for an object of columns.
 */
export function arrayInObject(path: string, bytes: Buffer): Buffer | undefined {
  if (bytes.length > LONGEST_OBJECT_BYTES || !isUtf8(bytes)) return undefined;
  const members = membersIn(bytes.toString("utf8"));
  if (members === undefined) return undefined;
  const lists = ROWS.flatMap((name) => members.get(name) ?? []).filter(isListOfObjects);
  if (lists.length === 1) return Buffer.from(lists[0]!);
  if (!isTable([...members.values()])) return Buffer.concat([Buffer.from("["), bytes, Buffer.from("]")]);
  const names = [...members.keys()].slice(0, 8).join(", ");
  throw new HoneError(
    "HONE_ERR_DATA",
    `${path} is one object with a list for each column (${names}); rows are expected`,
    {
      hint: 'Rows are a list of objects, or one object a line. pandas: frame.to_json("rows.jsonl", orient="records", lines=True); datasets: dataset.to_json("rows.jsonl").',
    },
  );
}

function membersIn(text: string): Map<string, string> | undefined {
  try {
    return membersOf(text);
  } catch (error) {
    if (HoneError.is(error)) return undefined;
    throw error;
  }
}

const isListOfObjects = (json: string): boolean =>
  json.startsWith("[") && elementsOf(json).every((one) => one.startsWith("{"));

/** True if every member is a column: a list of texts and numbers, or, as pandas writes it, an object by row number. */
const isTable = (values: readonly string[]): boolean =>
  values.length > 0 && values.every((value) => /^(?:\{\s*"0"\s*:|\[\s*[^\s[{\]])/.test(value));
