import fc from "fast-check";
import { expect, test } from "vitest";
import { Html, html, jsonBlock } from "../../lib/report/html.ts";

test("strings are escaped wherever they are put", () => {
  expect(html`<a title="${`"x' & <y>`}">${"<script>"}</a>`.text).toBe(
    '<a title="&quot;x&#39; &amp; &lt;y&gt;">&lt;script&gt;</a>',
  );
});

test("html goes in as it is, lists joined, nothing for undefined", () => {
  const items = ["a", "b<"].map((item) => html`<li>${item}</li>`);
  expect(html`<ul>${items}${undefined}${new Html("<hr>")}${0}</ul>`.text).toBe(
    "<ul><li>a</li><li>b&lt;</li><hr>0</ul>",
  );
});

test("a JSON block comes back whole and cannot be left from inside", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      const block = jsonBlock("x", { value, text, trap: "</script><!--" }).text;
      const body = block.slice(block.indexOf(">") + 1, -"</script>".length);
      expect(body).not.toContain("<");
      expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify({ value, text, trap: "</script><!--" })));
    }),
  );
});
