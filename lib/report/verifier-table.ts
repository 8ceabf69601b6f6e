import { type Stretch, stepsWith } from "../metrics/index.ts";
import { type Html, html } from "./html.ts";

/**
 * What each verifier did over the whole log: calls, what went wrong, and how long a call took. Where a stretch has more
 * than one step, time-outs and crashes are its mean share of its mean number of calls.
 */
export function verifierTable(steps: readonly Stretch[]): Html | undefined {
  const prefix = "verifier/calls/";
  const last = steps.at(-1)?.metrics ?? {};
  const names = Object.keys(last).filter((metric) => metric.startsWith(prefix));
  if (names.length === 0) return undefined;
  const rows = names.map((metric) => verifierRow(metric.slice(prefix.length), steps));
  return html`<h2>Verifiers</h2><div class="card scroll"><table>
<thead><tr><th>Verifier</th><th>calls</th><th>timed out</th><th>crashed</th><th>repeated</th><th>p50 ms</th><th>p95 ms</th><th>p99 ms</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function verifierRow(name: string, steps: readonly Stretch[]): Html {
  const calls = (stretch: Stretch) => stretch.metrics[`verifier/calls/${name}`] ?? 0;
  const total = (what: string, each: (stretch: Stretch, value: number) => number = (_, value) => value) => {
    const metric = `verifier/${what}/${name}`;
    const sums = steps.map((s) => each(s, s.metrics[metric] ?? 0) * stepsWith(s, metric));
    return Math.round(sums.reduce((a, b) => a + b, 0)).toLocaleString("en");
  };
  // these two are shares of a step's calls
  const share = (what: string) => total(what, (stretch, value) => value * calls(stretch));
  const last = steps.at(-1)!.metrics;
  const ms = (quantile: string) => last[`verifier/${quantile}-ms/${name}`]?.toFixed(1) ?? "–";
  return html`<tr><td>${name}</td><td>${total("calls")}</td><td>${share("timeouts")}</td><td>${share("crashes")}</td>
<td>${total("retries")}</td><td>${ms("p50")}</td><td>${ms("p95")}</td><td>${ms("p99")}</td></tr>`;
}
