/** Text that is HTML already; everything else that goes into `html` is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly (Html | undefined)[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

/** Template tag for HTML: escapes strings, inserts `Html` unchanged, joins lists, leaves out undefined. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(literals.map((literal, i) => literal + (i < parts.length ? fill(parts[i]) : "")).join(""));
}

function fill(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(fill).join("");
  return escapeHtml(String(part));
}

/** Writes JSON for a script element: "<" is escaped, so that no text in it can end the element. */
export function jsonBlock(id: string, value: unknown): Html {
  const text = JSON.stringify(value).replaceAll("<", "\\u003c");
  return new Html(`<script type="application/json" id="${escapeHtml(id)}">${text}</script>`);
}
