import { HoneError } from "../errors.ts";
import { pageFile } from "./page-files.ts";

const IMPORT = /^import \{([^}]*)\} from "\.\/([a-zA-Z0-9-]+\.js)";\n/gm;
const EXPORT = /^export (?=(?:async )?function |class |const )/gm;

/**
 * Concatenates the modules that a file of the page imports, dependencies first, and itself: a static HTML file cannot
 * import modules. Trusts that top-level names are unique, since the browser would refuse duplicates. Throws
 * HONE_ERR_INTERNAL for a form of import or export that the page's modules do not use.
 */
export function bundle(entry: string, read: (name: string) => string = readPage): string {
  const done = new Map<string, string>();
  const add = (name: string, above: readonly string[]) => {
    if (done.has(name)) return;
    if (above.includes(name)) throw fault(name, "it imports itself");
    const text = read(name);
    for (const [, names, from] of text.matchAll(IMPORT)) {
      if (/\bas\b/.test(names!)) throw fault(name, `an import that renames: ${names}`);
      add(from!, [...above, name]);
    }
    const plain = text.replace(IMPORT, "").replace(EXPORT, "");
    const odd = /^(?:import|export)\b.*/m.exec(plain);
    if (odd !== null) throw fault(name, odd[0]);
    done.set(name, plain);
  };
  add(entry, []);
  return [...done.values()].join("\n");
}

const readPage = (name: string): string => {
  const file = pageFile(name);
  if (file === undefined) throw fault(name, "there is no such module");
  return file.text;
};

const fault = (name: string, what: string): HoneError =>
  new HoneError("HONE_ERR_INTERNAL", `lib/live/page/${name} cannot be put into a static report: ${what}`);
