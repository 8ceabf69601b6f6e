/**
 * Folders whose tests start processes, browsers or servers, which a busy machine can delay beyond any limit. Such a
 * test runs a second time if it fails; if it then passes, it is reported as flaky (test/flaky.ts). Tests of numbers
 * are never repeated. `npm test` leaves these files out, `npm run test:processes` runs them (test/which-files.ts).
 */
const FOLDERS = /^test\/(?:e2e|fleet|launch|live|streams|sandbox|trackers|sweeps|rewards\/pool|cli\/verbs)\//;
const STARTS =
  /from "(?:node:(?:child_process|http|net)|playwright-core)"|\/fixtures\/(?:command-line|child-program|hub-server|judge-server|local-server|sandboxfusion-server)\.ts"/;
/** Files whose sessions, commands and pools of verifiers start processes, which their imports do not show. */
const STARTED =
  /^test\/(?:cli\/(?:session(?!-display)|verify-file|evaluate-model|data-check)|domains\/(?:data-kind|sample-rows)|docs\/how-to|episodes\/python-environment|orchestration\/setup\/readiness)/;
/** Folders whose tests compare bits and sums with references. */
const NUMBERS = /^test\/(?:contract|native|inference|plan|architecture|mutants)\//;

/** @param file its path from the root. @param source its text. */
export const isRetried = (file: string, source: string): boolean =>
  !NUMBERS.test(file) && (FOLDERS.test(file) || STARTED.test(file) || STARTS.test(source));
