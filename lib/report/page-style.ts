/** The report's style sheet: one column on a phone, two columns of charts on a desk; light and dark by the system. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --paper: #f6f7f9; --card: #ffffff; --ink: #16202c; --muted: #5d6b7b; --rule: #dde2e8; --grid: #e9edf1;
  --good: #12744a; --bad: #b3361f; --shade: rgb(22 32 44 / 0.28);
  --hue-0: #2463c4; --hue-1: #cf5a16; --hue-2: #14885a; --hue-3: #a23792; --hue-4: #a17a00; --hue-5: #5f6b7a; --hue-6: #b9c2cc;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #10151c; --card: #171e27; --ink: #e8edf3; --muted: #94a2b3; --rule: #2a3441; --grid: #242d38;
    --good: #56d39b; --bad: #ff8d75; --shade: rgb(0 0 0 / 0.75);
    --hue-0: #6ba8ff; --hue-1: #ff9d5c; --hue-2: #4cd29a; --hue-3: #e483d5; --hue-4: #e3c04a; --hue-5: #9aa7b6; --hue-6: #4b5665;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 var(--font); font-variant-numeric: tabular-nums; }
main { max-width: 1180px; margin: 0 auto; padding: 40px 28px 56px; }
h1 { font-size: 30px; line-height: 1.2; letter-spacing: -0.02em; margin: 0; }
h2 { font-size: 19px; letter-spacing: -0.01em; margin: 44px 0 14px; }
h3 { font-size: 15px; margin: 0; } h3 small { font-weight: 400; font-size: 13px; color: var(--muted); }
p { margin: 0; }
.lead { color: var(--muted); margin-top: 6px; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 18px 20px; }
.cards { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 14px; margin-top: 26px; }
.cards .name { font-size: 13px; color: var(--muted); }
.cards .value { font-size: 26px; line-height: 1.25; font-weight: 650; letter-spacing: -0.02em; margin-top: 2px; white-space: nowrap; }
.cards .value small { font-size: 15px; font-weight: 500; color: var(--muted); letter-spacing: 0; }
.cards .detail { font-size: 13px; color: var(--muted); margin-top: 2px; }
.up { color: var(--good); } .down { color: var(--bad); }
.scroll { overflow-x: scroll; padding: 6px 20px 10px; scrollbar-width: thin; scrollbar-color: var(--muted) var(--rule);
  /* Shadows at the sides where more of the table lies; what moves with the table covers them at its ends. */
  background:
    linear-gradient(90deg, var(--card) 40%, transparent) 0 0 / 44px 100% no-repeat local,
    linear-gradient(270deg, var(--card) 40%, transparent) 100% 0 / 44px 100% no-repeat local,
    linear-gradient(90deg, var(--shade), transparent) 0 0 / 16px 100% no-repeat scroll,
    linear-gradient(270deg, var(--shade), transparent) 100% 0 / 16px 100% no-repeat scroll, var(--card); }
.scroll::-webkit-scrollbar { height: 8px; } .scroll::-webkit-scrollbar-track { background: var(--rule); border-radius: 4px; }
.scroll::-webkit-scrollbar-thumb { background: var(--muted); border-radius: 4px; }
@media (min-width: 1000px) { .scroll { overflow-x: auto; } }
.scroll + .scroll { margin-top: 14px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
caption { text-align: left; font-weight: 650; padding: 10px 0 4px; }
th, td { text-align: right; padding: 8px 7px; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { font-weight: 500; vertical-align: bottom; font-size: 13px; color: var(--muted); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
td .se, td .was { color: var(--muted); } td .se { font-size: 12.5px; }
tbody tr:last-child td { border-bottom: 0; font-weight: 600; }
.candidates tbody tr:last-child td, .plain tbody tr:last-child td { font-weight: 400; }
.candidates tbody tr.best td { font-weight: 600; }
tbody tr:last-child td .se, tbody tr:last-child td .was { font-weight: 400; }
td.track { width: 24%; min-width: 150px; } td.track svg { display: block; width: 100%; height: 22px; overflow: visible; }
th.scale { padding-bottom: 7px; } th.scale div { display: flex; justify-content: space-between; }
.chip { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 8px; }
.notes { color: var(--muted); font-size: 14.5px; max-width: 82ch; margin-top: 14px; }
.notes.before { margin: 0 0 14px; }
.notes p + p { margin-top: 6px; }
.charts { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px; }
.charts figure:last-child:nth-child(odd) { grid-column: 1 / -1; }
figure { margin: 0; min-width: 0; padding: 16px 18px 12px; }
figcaption p { font-size: 13px; line-height: 1.4; color: var(--muted); margin-top: 2px; min-height: 2.8em; }
.charts.figures figure:last-child:nth-child(odd) { grid-column: auto; }
.plain th { white-space: normal; }
.plain td:first-child { white-space: normal; min-width: 8em; }
.items p { font-size: 14px; overflow-wrap: anywhere; margin-bottom: 10px; color: var(--muted); } .items b { color: var(--ink); font-weight: 600; }
.caption { font-size: 14.5px; font-weight: 600; max-width: 100ch; margin: 20px 0 8px; }
.figures { margin-top: 14px; }
.figures figure svg { display: block; width: 100%; height: auto; margin-top: 8px; }
.plot { margin: 6px -6px 0 -8px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px; padding: 4px 0 0; margin: 0; list-style: none; color: var(--muted); }
.legend b { color: var(--ink); font-weight: 600; margin-left: 4px; display: inline-block; min-width: 2.6em; }
.legend .at { min-width: 5.2em; }
.legend .chip { margin-right: 6px; width: 12px; height: 3px; border-radius: 2px; vertical-align: middle; }
.phases { display: flex; height: 10px; border-radius: 5px; overflow: hidden; gap: 2px; margin: 4px 0 10px; }
.uplot { font-family: inherit; } .u-cursor-x { border-right: 1px solid var(--muted) !important; }
.u-select { background: var(--muted); opacity: 0.15; }
details { margin-top: 14px; } summary { cursor: pointer; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 20px; margin: 12px 0 0; font-size: 14px; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
pre { font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-x: auto; margin: 12px 0 0; }
footer { color: var(--muted); font-size: 13px; margin-top: 40px; }
@media (max-width: 860px) {
  main { padding: 24px 16px 40px; } h1 { font-size: 25px; }
  .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 10px; } .cards .value { font-size: 21px; } .card { padding: 14px 14px; }
  .charts { grid-template-columns: minmax(0, 1fr); } figcaption p { min-height: 0; }
  .scroll { padding: 4px 14px 8px; } table { font-size: 13px; } th, td { padding: 7px 6px; } td.track { min-width: 104px; }
}
@media (max-width: 460px) { .cards .value { font-size: 19px; } .cards .value small { font-size: 13px; } }
@media print { body { background: none; } .card { break-inside: avoid; } }
`;
