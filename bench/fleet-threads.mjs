// Measures from outside, for fleet.bench.mjs, the processor time that processes have used so far, by kind of thread.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export const KINDS = ["script", "gloo", "ranks", "v8", "core"];
const SCHED_BATCH = "3"; // the scheduling policy that only Gloo's threads have (csrc/dist/gloo/group.cc)
const RANKS = "hone-ranks"; // csrc/dist/host_queue.cc
const TICKS = 100; // ticks a second, the same on every Linux

const read = (file) => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // the process has ended
  }
};
/** The fields of /proc/<process or thread>/stat from the third on; `nameOf` reads the second. */
const fieldsOf = (stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" ");
const nameOf = (stat) => stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));

/** `process`, its children and their descendants. */
function family(process) {
  const children = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const stat = read(`/proc/${id}/stat`);
    if (stat === undefined) continue;
    const parent = fieldsOf(stat)[1];
    children.set(parent, [...(children.get(parent) ?? []), id]);
  }
  const all = [String(process)];
  for (const id of all) all.push(...(children.get(id) ?? []));
  return all;
}

/**
 * The processor seconds of `process` and its descendants: `seconds` includes ended processes, the KINDS of threads
 * only living ones.
 * @param marked folder of fleet-marks.mjs
 */
export function spentBelow(process, marked) {
  const spent = Object.fromEntries(["seconds", ...KINDS, "worker"].map((kind) => [kind, 0]));
  for (const id of family(process)) {
    const stat = read(`/proc/${id}/stat`);
    if (stat === undefined) continue;
    const [own, system, ofEnded, systemOfEnded] = fieldsOf(stat).slice(11, 15).map(Number);
    spent.seconds += (own + system + ofEnded + systemOfEnded) / TICKS;
    addThreads(id, JSON.parse(read(path.join(marked, `${id}.json`)) ?? '{"v8":[],"worker":[]}'), spent);
  }
  return spent;
}

function addThreads(process, marks, spent) {
  for (const id of readdirSync(`/proc/${process}/task`)) {
    const nanoseconds = read(`/proc/${process}/task/${id}/schedstat`)?.split(" ")[0];
    const stat = read(`/proc/${process}/task/${id}/stat`);
    if (nanoseconds === undefined || stat === undefined) continue;
    const known = Object.keys(marks).find((kind) => marks[kind].includes(id));
    const kind = id === process ? "script" : (known ?? ofCore(stat));
    spent[kind] += Number(nanoseconds) / 1e9;
  }
}

function ofCore(stat) {
  if (fieldsOf(stat)[38] === SCHED_BATCH) return "gloo";
  return nameOf(stat) === RANKS ? "ranks" : "core";
}
