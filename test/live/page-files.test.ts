import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { pageFile } from "../../lib/live/page-files.ts";

test("gives every file of the page with its type", () => {
  const names = readdirSync("lib/live/page").filter((name) => /\.(html|css|js)$/.test(name));
  expect(names.length).toBeGreaterThan(10);
  for (const name of [...names, "uplot.js", "uplot.css"])
    expect(pageFile(name)?.text.length, name).toBeGreaterThan(50);
  expect(pageFile("main.js")?.type).toContain("text/javascript");
});

test.each([
  "tsconfig.json",
  "globals.d.ts",
  "../server.ts",
  "..%2fserver.js",
  ".js",
  "/etc/passwd",
  "a/b.js",
  "none.js",
  "constructor",
  "",
])("%j is no file of the page", (name) => {
  expect(pageFile(name)).toBeUndefined();
});

test("no file of the page asks for anything from elsewhere, or makes markup of text", () => {
  for (const name of readdirSync("lib/live/page").filter((name) => /\.(html|css|js)$/.test(name))) {
    const { text } = pageFile(name)!;
    expect(text.replaceAll("http://www.w3.org/2000/svg", ""), name).not.toMatch(/https?:\/\//);
    expect(text, name).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
    );
  }
});
