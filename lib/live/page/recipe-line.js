import { el } from "./dom.js";

/** @import { Page } from "./page.js" */

/** The recipe's command, with a copy button. @param {Page} page */
export function recipeLine(page) {
  const line = 'rollouts: { record: "last:20" }';
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(line);
      button.textContent = "copied";
    } catch {
      page.say(`To copy by hand: ${line}`);
    }
  };
  const button = el("button", { type: "button", onclick: () => void copy() }, "copy");
  return el("span", { className: "recipe-line" }, el("code", {}, line), " ", button);
}
