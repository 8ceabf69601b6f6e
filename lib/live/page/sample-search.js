/**
 * What the reader looks for among the completions. It outlives the tab, so that other tabs can send the reader there.
 * @typedef {{ [name: string]: string }} SampleSearch values of the form, by the names that the server knows
 */

/** @type {{ run: number, asked: SampleSearch, offset: number, row: number | undefined, heldOut: boolean }} */
export const sampleSearch = { run: 0, asked: {}, offset: 0, row: undefined, heldOut: false };

/** Goes to the Samples tab with other conditions, and opens one of them. @param {number} run @param {SampleSearch} asked @param {number} [row] */
export function searchSamples(run, asked, row) {
  Object.assign(sampleSearch, { run, asked, offset: 0, row, heldOut: false });
  location.hash = "samples";
}
