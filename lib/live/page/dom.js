/**
 * An element. Texts become text nodes, never markup: whatever a model or a file says stays text.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {{ [name: string]: unknown }} [props] properties; names with a hyphen, `role` and `for` are attributes
 * @param {(Node | string | number | undefined | false | null)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (name.includes("-") || ATTRIBUTES.has(name)) node.setAttribute(name, String(value));
    else Object.assign(node, { [name]: value });
  }
  node.append(
    ...children.filter(isThere).map((child) => (typeof child === "number" ? String(child) : child)),
  );
  return node;
}

const ATTRIBUTES = new Set(["role", "for", "list", "scope", "colspan"]);

/**
 * @template T
 * @param {T | undefined | false | null} child
 * @returns {child is T}
 */
const isThere = (child) => child !== undefined && child !== false && child !== null;

/**
 * Replaces an element's children. Leaves children in place that it already has: removing and reinserting a node would
 * lose the focus and interrupt a drag.
 * @param {Element} node
 * @param {(Node | string | undefined | false)[]} children
 */
export function fill(node, ...children) {
  const wanted = children.filter(isThere).map((one) => (typeof one === "string" ? new Text(one) : one));
  if (!wanted.some((one) => one.parentNode === node)) return node.replaceChildren(...wanted);
  const kept = new Set(wanted);
  for (const old of [...node.childNodes]) if (!kept.has(old)) old.remove();
  for (const [i, one] of wanted.entries())
    if (node.childNodes[i] !== one) node.insertBefore(one, node.childNodes[i] ?? null);
}

const HANDLERS = /** @type {const} */ (["onclick", "onchange", "onsubmit", "oninput"]);

/**
 * Updates an element's children to match new ones, and keeps nodes of the same kind, with their focus, clicks in
 * progress and scroll position. For texts, attributes and buttons; not for form fields.
 * @param {Element} node
 * @param {(Node | string | undefined | false)[]} children
 */
export function renew(node, ...children) {
  const fresh = children.filter(isThere).map((one) => (typeof one === "string" ? new Text(one) : one));
  const old = [...node.childNodes];
  for (const [i, next] of fresh.entries()) {
    const before = old[i];
    if (before === undefined) node.append(next);
    else if (!isAlike(before, next)) before.replaceWith(next);
    else if (before instanceof Element) renewElement(before, /** @type {Element} */ (next));
    else if (before.nodeValue !== next.nodeValue) before.nodeValue = next.nodeValue;
  }
  for (const rest of old.slice(fresh.length)) rest.remove();
}

/** @param {Node} one @param {Node} other */
const isAlike = (one, other) =>
  one.nodeName === other.nodeName &&
  (!(one instanceof Element) || keyOfNode(one) === keyOfNode(/** @type {Element} */ (other)));

/** The key by which a button is reused: its text. @param {Element} node */
const keyOfNode = (node) => (node.nodeName === "BUTTON" ? node.textContent : null);

/**
 * The page's security policy forbids `style` attributes, and would keep the old style. @param {Element} node @param
 * {string} name @param {string} value
 */
function setOwn(node, name, value) {
  if (name === "style" && node instanceof HTMLElement) node.style.cssText = value;
  else node.setAttribute(name, value);
}

/** @param {Element} old @param {Element} next */
function renewElement(old, next) {
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of [...next.attributes])
    if (old.getAttribute(name) !== value) setOwn(old, name, value);
  for (const name of HANDLERS) Object.assign(old, { [name]: Reflect.get(next, name) });
  renew(old, ...next.childNodes);
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * An SVG element.
 * @param {string} tag
 * @param {{ [name: string]: string | number | undefined }} [attributes]
 * @param {(Node | string)[]} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/**
 * A table of texts, the first column as row heads.
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | Node)[])[]} rows
 * @param {string} [caption]
 */
export function table(head, rows, caption) {
  const cell = (/** @type {string | Node} */ content, /** @type {number} */ i) =>
    i === 0 ? el("th", { scope: "row" }, content) : el("td", {}, content);
  return el(
    "div",
    { className: "scroll", tabIndex: 0 },
    el(
      "table",
      {},
      caption !== undefined && el("caption", {}, caption),
      el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell)))),
    ),
  );
}
