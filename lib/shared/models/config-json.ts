/** Bare infinities, which Python's json module writes although JSON has none; strings match too, so that none is taken inside. */
const INFINITIES = /"(?:[^"\\]|\\.)*(?:"|$)|-?Infinity|NaN/gs;

/**
 * Parses the text of a config.json. A bare NaN, Infinity or -Infinity becomes what transformers 5 writes in its place,
 * `{ "__float__": "Infinity" }`, as in the core. Throws SyntaxError for a text that is not JSON otherwise.
 */
export function parseConfig(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const named = text.replace(INFINITIES, (found) =>
      found.startsWith('"') ? found : `{"__float__":"${found}"}`,
    );
    if (named === text) throw error;
    return JSON.parse(named);
  }
}
