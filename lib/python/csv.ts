/** Characters of one field; more is an error, as in Python's csv module. */
const FIELD_LIMIT = 131_072;

type State = "record" | "field" | "unquoted" | "quoted" | "quote" | "end";

/**
 * Rows of fields, as Python's csv.reader reads text with `\n` line ends in its default dialect: fields may be quoted
 * with `"`, a doubled quote is a quote, text after a closed quote is kept unchanged, a blank line is a row without
 * fields, and an unclosed quote extends to the end. Undefined for errors of the reader: text after a lone carriage
 * return, or a field over its limit.
 * Source: The Python Standard Library, "csv"; RFC 4180.
 */
export function parseCsv(text: string, delimiter: string): string[][] | undefined {
  const rows: string[][] = [];
  const lines = text.split(/(?<=\n)/);
  let state: State = "record";
  let row: string[] = [];
  let field: string[] = [];
  const save = (): void => {
    row.push(field.join(""));
    field = [];
  };
  for (const line of lines) {
    for (const char of line) {
      const ends = char === "\n" || char === "\r";
      if (state === "record" && !ends) state = "field";
      switch (state) {
        case "record":
          state = "end";
          break;
        case "field":
        case "unquoted":
          if (ends || char === delimiter) {
            save();
            state = ends ? "end" : "field";
          } else if (char === '"' && state === "field") state = "quoted";
          else {
            field.push(char);
            state = "unquoted";
          }
          break;
        case "quoted":
          if (char === '"') state = "quote";
          else field.push(char);
          break;
        case "quote":
          if (char === '"') {
            field.push(char);
            state = "quoted";
          } else if (ends || char === delimiter) {
            save();
            state = ends ? "end" : "field";
          } else {
            field.push(char);
            state = "unquoted";
          }
          break;
        case "end":
          if (!ends) return undefined;
      }
      if (field.length > FIELD_LIMIT) return undefined;
    }
    if (line === "" || state === "quoted") continue;
    if (state === "field" || state === "unquoted" || state === "quote") save();
    rows.push(row);
    row = [];
    state = "record";
  }
  if (state === "quoted") {
    save();
    rows.push(row);
  }
  return rows;
}
