import { keepInAddress, noteAddress, numberIn } from "./address.js";

/**
 * The reader's search for completions. It outlives the tab, so that other tabs can link to a search.
 * @typedef {{ [name: string]: string }} SampleSearch values of the form, by the server's parameter names
 */

/** Conditions that an address may contain. */
const CONDITION_NAMES = [
  ...["domain", "status", "problem", "steps", "tokens", "versions", "flippedSince"],
  ...["wrongButLong", "truncated", "order"],
];

/** @type {{ run: number, asked: SampleSearch, offset: number, row: number | undefined, heldOut: boolean }} */
export const sampleSearch = { run: 0, asked: {}, offset: 0, row: undefined, heldOut: false };

/** Held-out problems that the reader looks at. @type {{ kind: string, domain: string, at: string, offset: number }} */
export const askedChange = { kind: "all", domain: "", at: "", offset: 0 };

const runText = () => (sampleSearch.run === 0 ? "" : String(sampleSearch.run));

keepInAddress("samples", {
  read: () => {
    const { asked, offset, row, heldOut } = sampleSearch;
    const { kind, domain, at, offset: passed } = askedChange;
    if (heldOut)
      return {
        view: "before-after",
        run: runText(),
        kind,
        domain,
        at,
        offset: passed > 0 ? String(passed) : "",
      };
    return { run: runText(), ...asked, offset: offset > 0 ? String(offset) : "", row: String(row ?? "") };
  },
  write: (params) => {
    const offset = numberIn(params.get("offset")) ?? 0;
    const heldOut = params.get("view") === "before-after";
    Object.assign(sampleSearch, { run: numberIn(params.get("run")) ?? 0, heldOut });
    const text = (/** @type {string} */ name) => params.get(name) ?? "";
    if (heldOut)
      Object.assign(askedChange, {
        kind: text("kind") || "all",
        domain: text("domain"),
        at: text("at"),
        offset,
      });
    else {
      const asked = Object.fromEntries(CONDITION_NAMES.map((name) => [name, text(name)]));
      Object.assign(sampleSearch, { asked, offset, row: numberIn(params.get("row")) });
    }
  },
});

/**
 * Opens the Samples tab with other conditions, and optionally one completion. @param {number} run @param
 * {SampleSearch} asked @param {number} [row]
 */
export function searchSamples(run, asked, row) {
  Object.assign(sampleSearch, { run, asked, offset: 0, row, heldOut: false });
  location.hash = "samples";
}

/** Opens a sample. @param {number} row */
export function chooseSample(row) {
  sampleSearch.row = row;
  noteAddress();
}
