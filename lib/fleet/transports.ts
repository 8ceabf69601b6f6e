import { hostname } from "node:os";
import { HoneError } from "../errors.ts";
import type { NativeInfo, TrainerFace } from "../native/face.ts";
import { Communicator, WeightReceiver as NativeReceiver } from "../native/index.ts";
import type { Core } from "../orchestration/index.ts";
import type { StreamStore } from "../streams/index.ts";
import { CommunicatorReceiver, CommunicatorSender, type LinkParts } from "./communicator-transport.ts";
import type { SendingTrainer } from "./fleet-trainer.ts";
import { FolderReceiver, FolderSender } from "./folder-transport.ts";
import type { EngineSpec, TransferPlan, TransportKind } from "./messages.ts";
import { type FleetSettings, rankName } from "./names.ts";
import type { StagedWeights, WeightReceiver, WeightSender } from "./transport.ts";

/** Transport of a run's weights, and the sentence that explains the choice. */
export interface ChosenTransport {
  readonly way: TransportKind;
  /** Between GPUs, which need NCCL besides. */
  readonly betweenGpus: TransportKind;
  readonly words: string;
}

/** Throws HONE_ERR_UNSUPPORTED where the recipe asks for a communicator and there is no Gloo. */
export function chooseTransport(
  asked: TransportKind | undefined,
  { gloo, nccl }: Pick<NativeInfo, "gloo" | "nccl">,
): ChosenTransport {
  const folders = { way: "folder", betweenGpus: "folder" } as const;
  if (asked === "folder") return { ...folders, words: "weights go to actors through folders" };
  if (gloo.version !== null) {
    const betweenGpus = asked === undefined && nccl.version === null ? "folder" : "communicator";
    const over = nccl.version === null ? "Gloo" : "Gloo, between GPUs over NCCL";
    return {
      way: "communicator",
      betweenGpus,
      words: `weights go to actors over ${over}, from one sender a machine`,
    };
  }
  const why = `Gloo is not there: ${gloo.reason}`;
  if (asked === undefined) return { ...folders, words: `weights go to actors through folders; ${why}` };
  throw new HoneError("HONE_ERR_UNSUPPORTED", `hardware.weights is "communicator", and ${why}`, {
    hint: "Or leave it out: weights then go through folders.",
  });
}

export interface TransportParts {
  readonly store: StreamStore;
  readonly settings: Pick<FleetSettings, "updateMs">;
  /** Address of this machine for members elsewhere. Default: those of this machine alone reach it. */
  readonly host: string | undefined;
  readonly signal: AbortSignal;
}

const linkOf = ({ store, settings, host, signal }: TransportParts): LinkParts => ({
  store,
  settings,
  signal,
  make: (options) => new Communicator({ ...options, ...(host !== undefined && { host }) }),
});

/** Sends each update the way that its plan says. @param folder for those that go through one */
export function openSender(parts: TransportParts, folder: string): WeightSender {
  const transports: Record<TransportKind, WeightSender> = {
    folder: new FolderSender(parts.store, folder),
    communicator: new CommunicatorSender(linkOf(parts)),
  };
  return {
    send: (plan: TransferPlan, trainer: TrainerFace, me: string) =>
      transports[plan.way].send(plan, trainer, me),
    close: () => closeAll(transports),
  };
}

/** Receives each update the way that its plan says. */
export function openReceiver(parts: TransportParts, core: Pick<Core, "trainer">): WeightReceiver {
  const receiver = (...args: ConstructorParameters<typeof NativeReceiver>) => new NativeReceiver(...args);
  const transports: Record<TransportKind, WeightReceiver> = {
    folder: new FolderReceiver(parts.store, core, parts.settings.updateMs),
    communicator: new CommunicatorReceiver({ ...linkOf(parts), receiver }),
  };
  return {
    receive: (plan: TransferPlan, spec: EngineSpec, me: string): Promise<StagedWeights> =>
      transports[plan.way].receive(plan, spec, me),
    send: (plan: TransferPlan, spec: EngineSpec, me: string) => transports[plan.way].send(plan, spec, me),
    forget: async (engine) => {
      for (const way of Object.values(transports)) await way.forget(engine);
    },
    close: () => closeAll(transports),
  };
}

async function closeAll(
  transports: Readonly<Record<TransportKind, { close(): Promise<void> }>>,
): Promise<void> {
  for (const way of Object.values(transports)) await way.close();
}

/** Trainers of the coordinator's own process. */
export function localTrainers(
  core: Pick<Core, "trainer">,
  sender: WeightSender,
  host: string = hostname(),
): (...args: Parameters<Core["trainer"]>) => SendingTrainer {
  const name = rankName(0, 0);
  const senders = async () => [{ name, host }];
  return (config, options) => {
    const trainer = core.trainer(config, options);
    return { trainer, send: (plan) => sender.send(plan, trainer, name), senders };
  };
}
