import { HoneError } from "../errors.ts";
import type { CommunicatorFace, CommunicatorOptions } from "../native/group-face.ts";
import type { StreamStore } from "../streams/index.ts";
import type { FleetSettings } from "./names.ts";

export interface RankGroupOptions {
  readonly store: StreamStore;
  readonly rank: number;
  readonly size: number;
  /** Beginning of the registers in which this group meets: one of other ranks, or of a later epoch, has others. */
  readonly links: string;
  /** Name of the group, for messages. */
  readonly name: string;
  readonly settings: Pick<FleetSettings, "gatherMs" | "collectiveMs">;
  readonly signal: AbortSignal;
  readonly make: (options: CommunicatorOptions) => CommunicatorFace;
}

/**
 * The ranks of one group, connected: what each has to tell the others goes through registers of the store. Throws
 * HONE_ERR_COLLECTIVE naming the ranks that were not there in time.
 */
export async function connectRanks(options: RankGroupOptions): Promise<CommunicatorFace> {
  const { rank, size, settings, make } = options;
  const group = make({ rank, size, timeoutMs: settings.collectiveMs });
  try {
    await tell(options, group.prepare());
    await group.connect(await hear(options));
    return group;
  } catch (error) {
    group.abort("its ranks are not all there");
    await group.close().catch(() => {}); // of a group that never was
    throw error;
  }
}

async function tell({ store, rank, links }: RankGroupOptions, blobs: readonly Uint8Array[]): Promise<void> {
  const written = blobs.map((blob, to) =>
    store.kv.set(`${links}${rank}-${to}`, Buffer.from(blob).toString("base64")),
  );
  await Promise.all(written);
}

async function hear({
  store,
  rank,
  size,
  links,
  name,
  settings,
  signal,
}: RankGroupOptions): Promise<Uint8Array[]> {
  const waitMs = settings.gatherMs;
  const heard = Array.from({ length: size }, (_, from) =>
    store.kv.waitFor(`${links}${from}-${rank}`, { waitMs, signal }),
  );
  const texts = await Promise.all(heard);
  const missing = texts.flatMap((text, from) => (text === undefined ? [from] : []));
  if (missing.length === 0) return texts.map((text) => Uint8Array.from(Buffer.from(text!, "base64")));
  throw new HoneError(
    "HONE_ERR_COLLECTIVE",
    `rank(s) ${missing.join(", ")} of ${name} were not there within ${Math.round(waitMs / 1000)} s`,
  );
}
