import { Refused, reportAnswer } from "./report-answers.js";

/** @import { ControlAction, StaticReport, StreamEvents } from "../wire.ts" */

/** Queries the server that the page came from. The token leaves this module only in requests to it. */
export class Connection {
  /** Embedded answers of a static report. @type {StaticReport | undefined} */
  #frozen = JSON.parse(document.getElementById("frozen")?.textContent ?? "null") ?? undefined;
  #token = new URLSearchParams(location.search).get("token") ?? "";
  /** @type {EventSource | undefined} */
  #source;

  /** Number of completions in the run, if the page contains only some of them. */
  get completionsInAll() {
    return this.#frozen?.samples?.of;
  }

  /** True for a static report: nothing changes, and only embedded answers are available. */
  get frozen() {
    return this.#frozen !== undefined;
  }

  /**
   * The answer to a question, as JSON. Throws Refused with the server's words.
   * @param {string} name @param {{ [name: string]: string | number | readonly string[] | undefined }} [params]
   * @returns {Promise<unknown>}
   */
  async ask(name, params = {}) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(params))
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined) query.append(key, String(one));
    if (this.#frozen !== undefined) return reportAnswer(this.#frozen, name, query);
    return answered(fetch(`api/${name}?${query}`, { headers: { "x-hone-token": this.#token } }));
  }

  /** @param {number} run @param {ControlAction} action */
  async control(run, action) {
    const headers = { "x-hone-token": this.#token, "content-type": "application/json" };
    return answered(
      fetch(`api/control?run=${run}`, { method: "POST", headers, body: JSON.stringify({ action }) }),
    );
  }

  /**
   * Listens from a cursor on; the browser takes up a broken stream by itself, from the last event it saw.
   * @param {string} from
   * @param {{ [E in keyof StreamEvents]: (data: StreamEvents[E]) => void }} handlers
   * @param {(state: "open" | "broken") => void} onState
   */
  listen(from, handlers, onState) {
    this.#source?.close();
    const source = new EventSource(`api/events?token=${this.#token}&from=${encodeURIComponent(from)}`);
    this.#source = source;
    for (const [name, handle] of Object.entries(handlers))
      source.addEventListener(name, (event) =>
        /** @type {(data: unknown) => void} */ (handle)(JSON.parse(event.data)),
      );
    source.onopen = () => onState("open");
    source.onerror = () => {
      onState("broken");
      // The browser does not reconnect after an HTTP error, but the server may be back in a moment.
      if (source.readyState === EventSource.CLOSED)
        setTimeout(() => this.#source === source && this.listen(from, handlers, onState), RETRY_MS);
    };
  }
}

const RETRY_MS = 2000;
const UNSERVED = "nothing answers at this address any more; hone watch <run folder> serves it again";

/** @param {Promise<Response>} request @returns {Promise<unknown>} */
async function answered(request) {
  const response = await request.catch(() => {
    throw new Refused(UNSERVED);
  });
  const body = await response.json();
  if (!response.ok) throw new Refused(body.error ?? `status ${response.status}`);
  return body;
}
