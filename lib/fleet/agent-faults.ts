import type { StreamStore } from "../streams/index.ts";
import { type Fault, FaultInjector, type Meetable, type SignalSender, signalTo } from "./faults.ts";
import type { Fleet } from "./fleet.ts";
import { awaitReadiness } from "./membership.ts";
import type { Processes } from "./processes.ts";
import { RemoteSignals } from "./remote-signals.ts";

export interface AgentFaultsOptions extends Meetable {
  /** Faults to inject. Times count from the moment when all processes are ready. */
  readonly faults?: readonly Fault[];
  /** Receives a sentence at the end about each fault that met no process. */
  readonly say?: (line: string) => void;
}

/** Adds the pool of this process's own verifiers, which judge where there are no hosts. */
type Pooled = AgentFaultsOptions & { readonly pool: Pick<Processes, "verifiers"> };
type Watched = Pick<Fleet, "readyProcesses"> & { readonly updates: Pick<Fleet["updates"], "onPublished"> };

/**
 * Injects faults into a run of agents, whichever node a process is on: agents signal their own processes, this process
 * signals its verifiers. Only this process schedules faults, so that each happens once. @returns a handle whose close
 * reports the faults that met no process
 */
export function beginFaults(options: Pooled, core: Watched, store: StreamStore): AsyncCloser {
  const { faults = [], say = () => {} } = options;
  const injector = new FaultInjector(faults, signalSenderOf(options, store));
  const closed = new AbortController();
  core.updates.onPublished = (version) => injector.published(version);
  if (faults.some(({ at }) => "ms" in at))
    allThere(options, core)
      .then(() => closed.signal.aborted || injector.begin())
      .catch(() => {}); // the run ended before, for a reason that it says
  return {
    close: async () => {
      closed.abort();
      await injector.close();
      for (const each of injector.unmet) say(`HONE_FAULTS: ${each}`);
    },
  };
}

interface AsyncCloser {
  close(): Promise<void>;
}

function signalSenderOf({ verifiers = 0, pool }: Pooled, store: StreamStore): SignalSender {
  const asked = new RemoteSignals(store);
  return {
    kill: (role, rank, signal) =>
      role === "verifier" && verifiers === 0
        ? signalTo(pool.verifiers()[rank], signal)
        : asked.kill(role, rank, signal),
    restart: () => false,
  };
}

async function allThere({ actors, trainers, verifiers = 0 }: Meetable, core: Watched): Promise<void> {
  const places = Object.entries({ actor: actors, trainer: trainers, verifier: verifiers }).flatMap(
    ([role, count]) => Array.from({ length: count }, (_, rank) => `${role}.${rank}`),
  );
  await awaitReadiness(() => core.readyProcesses(), places, Number.POSITIVE_INFINITY);
}
