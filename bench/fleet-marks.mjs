// Each process of fleet.bench.mjs loads this before everything else. It writes a file, named by the process, into the
// folder HONE_BENCH_THREADS that says which threads of the process are V8's and which run JavaScript.
import { readdirSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import threads from "node:worker_threads";

const TASKS = "/proc/self/task";

if (threads.isMainThread && process.env["HONE_BENCH_THREADS"] !== undefined) {
  const script = String(process.pid);
  // The threads that exist now are V8's, which compile and collect garbage. All others start later.
  const marks = { v8: readdirSync(TASKS).filter((id) => id !== script), worker: [] };
  const keep = () =>
    writeFileSync(path.join(process.env["HONE_BENCH_THREADS"], `${process.pid}.json`), JSON.stringify(marks));
  keep();
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file, options) {
      const before = new Set(readdirSync(TASKS));
      super(file, options);
      const own = readdirSync(TASKS).filter((id) => !before.has(id));
      marks.worker.push(...own);
      keep();
    }
  };
  syncBuiltinESMExports();
}
