// For fleet.bench.mjs, before everything else in each process: when it ends, a file in HONE_BENCH_THREADS has the
// processor seconds of its kinds of threads.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import threads from "node:worker_threads";

const TASKS = "/proc/self/task";
const SCHED_BATCH = "3"; // of Gloo's threads (csrc/dist/gloo/group.cc) and of no other
const SAMPLE_MS = 2000; // a sample costs a process about a millisecond, and several processes take more of them

const read = (file) => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // the thread has ended
  }
};
/** V8's: they compile and collect. All others come later. */
const first = new Set(readdirSync(TASKS));
const workers = new Set();
const stores = new Set();
/** Seconds and kind by thread; those of threads that have ended are kept. */
const seen = new Map();

function sample() {
  for (const id of readdirSync(TASKS)) {
    const nanoseconds = read(`${TASKS}/${id}/schedstat`)?.split(" ")[0];
    const stat = read(`${TASKS}/${id}/stat`);
    if (nanoseconds === undefined || stat === undefined) continue;
    const policy = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[38];
    const kind =
      id === String(process.pid)
        ? "script"
        : stores.has(id)
          ? "store"
          : workers.has(id)
            ? "worker"
            : policy === SCHED_BATCH
              ? "gloo"
              : first.has(id)
                ? "v8"
                : "core";
    seen.set(id, { kind, seconds: Number(nanoseconds) / 1e9 });
  }
}

if (threads.isMainThread && process.env["HONE_BENCH_THREADS"] !== undefined) {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file, options) {
      const before = new Set(readdirSync(TASKS));
      super(file, options);
      const kind = String(file).includes("streams/sqlite/worker") ? stores : workers;
      for (const id of readdirSync(TASKS)) if (!before.has(id)) kind.add(id);
    }
  };
  syncBuiltinESMExports();
  setInterval(sample, SAMPLE_MS).unref();
  process.on("exit", () => {
    sample();
    const seconds = { script: 0, store: 0, gloo: 0, v8: 0, core: 0 };
    for (const each of seen.values()) if (each.kind in seconds) seconds[each.kind] += each.seconds;
    writeFileSync(
      path.join(process.env["HONE_BENCH_THREADS"], `${process.pid}.json`),
      JSON.stringify(seconds),
    );
  });
}
