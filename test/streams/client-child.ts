/**
 * A process that works on streams until it is killed: `node client-child.ts <address> <run> <what> [name]`. lease:
 * leases an entry of "s" for 300 ms, says so and sleeps. append: appends k0, k1, ... to "s" and prints each once it
 * is stored. forward: leases entries of "s" and forwards them to "out" under their keys. serve: serves the store at
 * the address.
 */

import { openStore, serveStore } from "../../lib/streams/index.ts";
import { bytes, HOUR_MS } from "./place.ts";

const [url, run, what, name = "k"] = process.argv.slice(2);
const store = await (what === "serve" ? serveStore : openStore)(url!, { run: run! });
const say = (line: string) => process.stdout.write(`${line}\n`);
say("open");

if (what === "lease") {
  const [lease] = await store.lease("s", "g", { max: 1, leaseMs: 300, waitMs: 60_000 });
  say(`leased ${lease!.key}`);
  setTimeout(() => {}, HOUR_MS);
}
if (what === "append") {
  for (let i = 0; ; ++i) {
    await store.append("s", `${name}${i}`, bytes(`payload of ${name}${i}`), { samples: 1, tokens: i });
    say(`appended ${name}${i}`);
  }
}
if (what === "forward") {
  for (;;) {
    const options = { max: 2, leaseMs: 500, waitMs: 60_000, maxDeliveries: 1000 };
    for (const lease of await store.lease("s", "g", options)) {
      await store
        .forward(lease, "out", lease.key, lease.payload, { samples: 1, tokens: 1 })
        .catch((error) => {
          if (error.why !== "lease-lost") throw error;
        });
    }
  }
}
