import { Html, html } from "./html.ts";
import { PAGE_STYLE } from "./page-style.ts";
import type { PlainTable } from "./table-formats.ts";

// A content security policy that forbids loading proves that the page needs no other file.
const POLICY = new Html(
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:",
);

/**
 * A whole page that works from a file, without network, in light and dark. @param style a library's, before
 * the page's own.
 */
export function htmlDocument(title: string, main: Html, { style = "", scripts = html`` } = {}): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${title}</title>
<style>${new Html(style)}${new Html(PAGE_STYLE)}</style></head>
<body><main>
${main}
</main>
${scripts}
</body></html>
`.text;
}

/** A table on a page; one that is too wide scrolls within its card. */
export function htmlTable({ head, rows }: PlainTable, caption?: string): Html {
  const line = (cells: readonly string[]) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`;
  return html`${caption === undefined ? undefined : html`<p class="caption">${caption}</p>`}<div class="card scroll"><table class="plain">
<thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
<tbody>${rows.map(line)}</tbody></table></div>`;
}
