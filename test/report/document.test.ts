import { expect, test } from "vitest";
import { htmlDocument, htmlTable } from "../../lib/report/document.ts";
import { html } from "../../lib/report/html.ts";

test("a page may load nothing, and its title is text", () => {
  const page = htmlDocument("a <b>", html`<h1>x</h1>`, { style: ".u{}", scripts: html`<script>1</script>` });
  expect(page).toContain("<title>a &lt;b&gt;</title>");
  expect(page).toContain("default-src 'none'; style-src 'unsafe-inline'");
  expect(page).toMatch(/<style>\.u\{\}.*<main>\n<h1>x<\/h1>\n<\/main>\n<script>1<\/script>/s);
});

test("a table has its caption above it, where it does not scroll away", () => {
  const { text } = htmlTable({ head: ["a", "b"], rows: [["1", "<2>"]] }, "what");
  expect(text).toMatch(/^<p class="caption">what<\/p><div class="card scroll">/);
  expect(text).toContain("<tr><th>a</th><th>b</th></tr>");
  expect(text).toContain("<tr><td>1</td><td>&lt;2&gt;</td></tr>");
  expect(htmlTable({ head: [], rows: [] }).text).not.toContain("caption");
});
