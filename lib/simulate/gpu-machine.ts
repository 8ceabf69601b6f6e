import { type Recipe, rolesOf, verifierWorkers } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import type { Network } from "../plan/index.ts";
import { ASSUMED, CARDS, PAPER_ANSWERS } from "./assumptions.ts";
import type { Machine } from "./machine.ts";
import { updateSeconds } from "./weight-update.ts";

/** Properties of a network that determine durations. */
export type Sizes = Pick<Network, "parameters" | "attentionLayers" | "kvHeads" | "headDim" | "qWidth">;

/** Bytes of a weight, and of an entry of keys and values, as an engine on a GPU keeps them. */
const BF16 = 2;

/**
 * The machine that a recipe's `hardware` names, from data sheets and the assumptions of docs/how-to/simulate.md. Throws
 * HONE_ERR_USAGE for a card that is not in the table.
 */
export function gpuMachine(recipe: Recipe, sizes: Sizes): Machine {
  const { gpu, gpus = 1 } = recipe.hardware ?? {};
  const card = CARDS.find(({ name }) => gpu?.includes(name));
  if (card === undefined) throw unknownCard(gpu);
  const { bandwidthShare, stepOverhead, prefillShare, trainShare, trainFixed } = ASSUMED;
  const asked = rolesOf(recipe);
  const roles = asked ?? { actors: gpus, trainers: gpus };
  const { actors } = roles;
  const trainers = Math.max(1, roles.trainers); // without trainers the coordinator trains
  const { parameters, attentionLayers, kvHeads, headDim, qWidth } = sizes;
  const keyValue = 2 * attentionLayers * kvHeads * headDim * BF16;
  const read = card.bandwidth * bandwidthShare;
  const trained = trainers * card.flops * trainShare;
  const bytes = parameters * BF16;
  const nodes = recipe.hardware?.nodes ?? Math.ceil(gpus / ASSUMED.gpusPerNode);
  const { maxRunning, pages, pageTokens } = recipe.engine;
  return {
    from: `${card.name}'s data sheet, and assumptions`,
    gpus,
    actors,
    trainers,
    actor: {
      maxRunning,
      keyValueTokens: pages * pageTokens,
      decode: {
        fixed: bytes / read + stepOverhead,
        perSequence: (2 * parameters) / (card.flops * prefillShare),
        perContextToken: keyValue / read,
      },
      prefillPerToken: (2 * parameters) / (card.flops * prefillShare),
      // an actor's engine copies the weights from its host's memory, one beside a trainer from the same card
      updatePause: asked ? bytes / ASSUMED.hostBandwidth : (2 * bytes) / card.bandwidth,
      swapPerToken: keyValue / ASSUMED.hostBandwidth,
      speedDuringStep: 1,
    },
    trainer: {
      fixed: trainFixed,
      perToken: (6 * parameters) / trained,
      perSquaredToken: (6 * attentionLayers * qWidth) / trained,
      between: 0,
      ...(asked && { update: { bytes, seconds: updateSeconds({ bytes, actors, trainers, nodes }) } }),
    },
    verifierWorkers: verifierWorkers(recipe),
    domains: { ...PAPER_ANSWERS },
  };
}

function unknownCard(gpu: string | undefined): HoneError {
  const known = CARDS.map(({ name }) => name).join(", ");
  const what = gpu === undefined ? "the recipe's hardware names no gpu" : `hardware.gpu is "${gpu}"`;
  return new HoneError("HONE_ERR_USAGE", `${what}; known data sheets: ${known}`, {
    hint: "Take the machine from a run (`--fit <run folder>`), or describe it in a file (`--machine`, docs/how-to/simulate.md).",
  });
}
