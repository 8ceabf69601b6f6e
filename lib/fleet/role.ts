import { HoneError } from "../errors.ts";
import type { CommunicatorOptions } from "../native/group-face.ts";
import { openStore, type StreamStore } from "../streams/index.ts";
import { PROCESS_EXIT, type RoleEnvironment } from "./environment.ts";
import { fence } from "./heartbeat.ts";
import { fleetSettings, weightsFolder } from "./membership.ts";
import { type FleetSettings, REGISTERS } from "./names.ts";
import { type RoleFacts, RoleMetrics, type RoleMetricsOptions } from "./role-metrics.ts";

/**
 * Runs the role that the environment names until `signal` aborts. Resolves with the exit code; `say` receives the
 * reason if it is not 0.
 */
export async function runRole(
  environment: RoleEnvironment,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<number> {
  try {
    await work(environment, signal, say);
    return PROCESS_EXIT.done;
  } catch (error) {
    const { code = "HONE_ERR_INTERNAL", message, hint } = error as Partial<HoneError> & Error;
    say(`${code}  ${message}${hint === undefined ? "" : `\n  hint: ${hint}`}`);
    return isNonRetryable(error) ? PROCESS_EXIT.config : PROCESS_EXIT.restart;
  }
}

async function work(
  environment: RoleEnvironment,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  const { role, rank, runId, epoch } = environment;
  await using store = await openStore(environment.store, { run: runId, mustExist: true });
  fence(store, `${role}.${rank}`, epoch);
  const settings = await fleetSettings(store);
  using metrics = new OptionalMetrics(environment, { store, beatMs: settings.beatMs, say });
  await WORK[role](environment, { store, settings, signal, onFacts: metrics.show });
}

interface RoleParts {
  readonly store: StreamStore;
  readonly settings: FleetSettings;
  readonly signal: AbortSignal;
  readonly onFacts: (facts: () => RoleFacts) => void;
}

// Each role imports its own modules when it begins, so that no process loads modules that only other roles need.

async function train({ rank, worldSize, epoch, host }: RoleEnvironment, parts: RoleParts): Promise<void> {
  const { connectRanks, openTransport } = await import("./communicator-transport.ts");
  const { Communicator, core } = await import("../native/index.ts");
  const { runTrainer } = await import("./trainer-role.ts");
  const { store, settings, signal, onFacts } = parts;
  const folder = await weightsFolder(store);
  const transport = openTransport({ store, core, folder, host, signal });
  const make = (options: CommunicatorOptions) =>
    new Communicator({ ...options, ...(host !== undefined && { host }) });
  const ranks = { store, rank, size: worldSize, name: `epoch ${epoch}`, settings, signal, make };
  const links = REGISTERS.links(epoch);
  const groups = worldSize > 1 && {
    group: await connectRanks({ ...ranks, links: `${links}ranks/` }),
    writers: await connectRanks({ ...ranks, links: `${links}writers/` }),
  };
  const at = host === undefined ? {} : { host };
  const own = { store, open: core.trainer, transport, rank, epoch, ...at, ...groups };
  await runTrainer({ ...own, settings, onFacts, signal });
}

async function sample({ rank, epoch, host }: RoleEnvironment, parts: RoleParts): Promise<void> {
  const { openTransport } = await import("./communicator-transport.ts");
  const { core } = await import("../native/index.ts");
  const { runActor } = await import("./actor.ts");
  const { store, signal, onFacts } = parts;
  const folder = await weightsFolder(store);
  const transport = openTransport({ store, core, folder, host, signal });
  const at = host === undefined ? {} : { host };
  await runActor({ store, core, transport, index: rank, generation: epoch, ...at, onFacts, signal });
}

/** Runs a verifier host, which never loads the addon and needs no GPU. */
async function judge({ rank, epoch, host }: RoleEnvironment, parts: RoleParts): Promise<void> {
  const { runVerifierHost } = await import("./verifier-host.ts");
  const { store, signal, onFacts } = parts;
  const at = host === undefined ? {} : { host };
  await runVerifierHost({ store, index: rank, generation: epoch, ...at, onFacts, signal });
}

const WORK = { actor: sample, trainer: train, verifier: judge } as const;

/** Serves metrics of this process if the environment gives an address for them. */
class OptionalMetrics implements Disposable {
  readonly #environment: RoleEnvironment;
  readonly #options: Pick<RoleMetricsOptions, "store" | "beatMs" | "say">;
  #metrics: RoleMetrics | undefined;

  constructor(environment: RoleEnvironment, options: Pick<RoleMetricsOptions, "store" | "beatMs" | "say">) {
    this.#environment = environment;
    this.#options = options;
  }

  readonly show = (facts: () => RoleFacts): void => {
    const { metrics: place, role, rank, runId } = this.#environment;
    if (place === undefined) return;
    this.#metrics = new RoleMetrics({ ...this.#options, place, name: `${role}.${rank}`, runId, facts });
  };

  [Symbol.dispose](): void {
    this.#metrics?.[Symbol.dispose]();
  }
}

/** True if another process on this machine would fail in the same way. */
function isNonRetryable(error: unknown): boolean {
  if (!HoneError.is(error)) return false;
  return ["HONE_ERR_NATIVE_LOAD", "HONE_ERR_USAGE", "HONE_ERR_CONFIG"].includes(error.code);
}
