import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageRoot } from "../package-root.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/** Names of files of the page: no folders, no dots but before the ending. */
const NAME = /^[a-zA-Z][a-zA-Z0-9-]*\.(html|js|css)$/;
const UPLOT: Readonly<Record<string, string>> = {
  "uplot.js": "uPlot.iife.min.js",
  "uplot.css": "uPlot.min.css",
};

export interface PageFile {
  readonly type: string;
  readonly text: string;
}

/** A file of the page by name, read again for each request; undefined if there is none. Sent unchanged to the browser. */
export function pageFile(name: string): PageFile | undefined {
  const ending = NAME.exec(name)?.[1];
  if (ending === undefined) return undefined;
  try {
    return { type: TYPES[ending]!, text: readFileSync(pathOf(name), "utf8") };
  } catch {
    return undefined;
  }
}

function pathOf(name: string): string {
  const library = Object.hasOwn(UPLOT, name) ? UPLOT[name] : undefined;
  if (library === undefined) return join(packageRoot(), "lib", "live", "page", name);
  return join(dirname(createRequire(import.meta.url).resolve("uplot")), library);
}
