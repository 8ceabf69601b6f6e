import { HoneError } from "../errors.ts";
import type { CommunicatorOptions } from "../native/group-face.ts";
import { Communicator } from "../native/index.ts";
import { nativeCore } from "../orchestration/index.ts";
import { openStore } from "../streams/index.ts";
import { fleetSettings, runActor } from "./actor.ts";
import { PROCESS_EXIT, type RoleEnvironment } from "./environment.ts";
import { weightsFolder } from "./folder-transport.ts";
import { REGISTERS } from "./names.ts";
import { connectRanks } from "./rank-group.ts";
import { runTrainer } from "./trainer-role.ts";
import { openReceiver, openSender } from "./ways.ts";

/** Does the work that the environment names, until `signal`. Resolves with the exit code; `say` is told why it is not 0. */
export async function runRole(
  environment: RoleEnvironment,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<number> {
  try {
    await work(environment, signal);
    return PROCESS_EXIT.done;
  } catch (error) {
    const { code = "HONE_ERR_INTERNAL", message, hint } = error as Partial<HoneError> & Error;
    say(`${code}  ${message}${hint === undefined ? "" : `\n  hint: ${hint}`}`);
    return isHopeless(error) ? PROCESS_EXIT.config : PROCESS_EXIT.restart;
  }
}

async function work(environment: RoleEnvironment, signal: AbortSignal): Promise<void> {
  const { role, rank, worldSize, runId, epoch, host } = environment;
  await using store = await openStore(environment.store, { run: runId, mustExist: true });
  const core = await nativeCore();
  store.fence(role === "trainer" ? REGISTERS.formation : REGISTERS.incarnation(rank), String(epoch));
  const settings = await fleetSettings(store);
  const ways = { store, settings, host, signal };
  const at = host === undefined ? {} : { host };
  if (role === "trainer") {
    const sender = openSender(ways, await weightsFolder(store));
    const make = (options: CommunicatorOptions) =>
      new Communicator({ ...options, ...(host !== undefined && { host }) });
    const ranks = { store, rank, size: worldSize, name: `epoch ${epoch}`, settings, signal, make };
    const links = REGISTERS.links(epoch);
    const groups = worldSize > 1 && {
      group: await connectRanks({ ...ranks, links: `${links}ranks/` }),
      writers: await connectRanks({ ...ranks, links: `${links}writers/` }),
    };
    const { beatMs } = settings;
    await runTrainer({ store, open: core.trainer, sender, rank, epoch, ...at, ...groups, beatMs, signal });
    return;
  }
  const receiver = openReceiver(ways, core);
  await runActor({ store, core, receiver, index: rank, incarnation: epoch, ...at, signal });
}

/** Another process on this machine would meet the same. */
function isHopeless(error: unknown): boolean {
  if (!HoneError.is(error)) return false;
  return ["HONE_ERR_NATIVE_LOAD", "HONE_ERR_USAGE", "HONE_ERR_CONFIG"].includes(error.code);
}
