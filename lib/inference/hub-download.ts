import { existsSync } from "node:fs";
import { HoneError } from "../errors.ts";
import { within } from "../shared/async/deadline.ts";
import type { HubClient, HubFile } from "./hub-client.ts";
import { isBeingDownloaded, PartialFile } from "./partial-file.ts";

export interface DownloadTarget {
  readonly url: string;
  readonly file: HubFile;
  /** Path of the complete file, which appears once its checksum has been verified. */
  readonly path: string;
  /** Called from time to time with the number of bytes downloaded so far, which is 0 again if the download starts over. */
  readonly onBytes: (bytes: number) => void;
}

/** A response without a byte for this long is abandoned, and the rest is requested again. */
const SILENCE_MS = 30_000;
const WAIT_MS = 200;
const CHECKSUM_ATTEMPTS = 2;

/**
 * Downloads one file, continuing an earlier attempt of this or another process. While another process downloads the
 * same file, waits for it. Throws HONE_ERR_HUB, HONE_ERR_IO, HONE_ERR_ABORTED; HONE_ERR_FORMAT if the contents twice
 * do not have the checksum that the Hub states.
 */
export async function downloadFile(client: HubClient, target: DownloadTarget): Promise<void> {
  const partial = await claimed(client, target);
  if (partial === undefined) return;
  try {
    for (let attempt = 1; ; attempt += 1) {
      await fill(client, target, partial);
      if (await partial.commit()) return;
      if (attempt === CHECKSUM_ATTEMPTS) throw wrongChecksum(target);
    }
  } finally {
    await partial.close();
  }
}

/**
 * The first bytes of a file that has at least that many, in memory. If a server without range support sends the whole
 * file, the rest is not read. Throws HONE_ERR_HUB, HONE_ERR_ABORTED.
 */
export async function downloadHead(client: HubClient, url: string, bytes: number): Promise<Buffer> {
  for (let attempt = 0; ; attempt += 1) {
    const parts: Uint8Array[] = [];
    const there = () => parts.reduce((sum, { length }) => sum + length, 0);
    try {
      await within(SILENCE_MS, client.signal, async (signal) => {
        const response = await client.get(url, { headers: { range: `bytes=0-${bytes - 1}` }, signal });
        for await (const chunk of response.body ?? []) {
          parts.push(chunk);
          if (there() >= bytes) return;
        }
        throw new Error("the body ends");
      });
      return Buffer.concat(parts).subarray(0, bytes);
    } catch (cause) {
      if (HoneError.is(cause)) throw cause;
      client.checkAborted();
      const delay = client.retryDelaysMs[attempt];
      if (delay === undefined) throw brokenOff(url, there(), bytes, cause as Error, "");
      await client.pause(delay);
    }
  }
}

/** The partial file to continue with; undefined if another process has finished the file meanwhile. */
async function claimed(client: HubClient, { path, file }: DownloadTarget): Promise<PartialFile | undefined> {
  for (;;) {
    while (await isBeingDownloaded(path)) await client.pause(WAIT_MS);
    if (existsSync(path)) return undefined;
    const partial = await PartialFile.open(path, file.size, file.digest);
    // The other process may have finished the file since the first check.
    if (!(await partial.isSecond()) && !existsSync(path)) return partial;
    await partial.close();
  }
}

/** Repeats requests until the file is complete. An attempt that adds bytes does not count as failed. */
async function fill(client: HubClient, target: DownloadTarget, partial: PartialFile): Promise<void> {
  let failures = 0;
  while (!partial.complete) {
    const before = partial.position;
    target.onBytes(before);
    const failure = await receive(client, target, partial);
    if (failure === undefined) continue;
    failures = partial.position > before ? 1 : failures + 1;
    const delay = client.retryDelaysMs[failures - 1];
    if (delay === undefined) throw brokenOff(target.url, partial.position, target.file.size, failure);
    await client.pause(delay);
  }
  target.onBytes(partial.position);
}

/** One request for the missing bytes. Returns the error that interrupted the body, if any. */
async function receive(
  client: HubClient,
  { url, onBytes, file }: DownloadTarget,
  partial: PartialFile,
): Promise<Error | undefined> {
  const silence = new AbortController();
  const signals = [silence.signal, ...(client.signal ? [client.signal] : [])];
  const init = {
    signal: AbortSignal.any(signals),
    headers: { range: `bytes=${partial.position}-` }, // the header makes fetch request no compression
  };
  const response = await client.get(url, init, [416]);
  if (!continues(response, partial.position)) await partial.restart();
  if (response.status === 416) return new Error("the server does not have the requested bytes");
  const timer = setTimeout(() => silence.abort(new Error(`no bytes for ${SILENCE_MS} ms`)), SILENCE_MS);
  try {
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      await partial.append(chunk);
      onBytes(partial.position);
    }
    return partial.complete
      ? undefined
      : new Error(`the body ends after ${partial.position} of ${file.size} bytes`);
  } catch (cause) {
    if (HoneError.is(cause)) throw cause;
    client.checkAborted();
    return cause as Error;
  } finally {
    clearTimeout(timer);
  }
}

/** True if the body continues at `position`; a server without range support sends the whole file. */
function continues({ status, headers }: Response, position: number): boolean {
  if (position === 0) return true;
  return status === 206 && (headers.get("content-range") ?? "").startsWith(`bytes ${position}-`);
}

function brokenOff(
  url: string,
  position: number,
  size: number,
  cause: Error,
  kept = ": what was downloaded is kept",
): HoneError {
  const message = `${url}: broken off after ${position} of ${size} bytes: ${cause.message}`;
  return new HoneError("HONE_ERR_HUB", message, {
    cause,
    hint: `Run the same command again${kept}.`,
    details: { url, reached: true },
  });
}

function wrongChecksum({ url, file: { digest } }: DownloadTarget): HoneError {
  const message = `${url}: the downloaded file does not have the ${digest.algorithm} ${digest.hex}, also in a second try; it was deleted`;
  return new HoneError("HONE_ERR_FORMAT", message, {
    hint: "Something between this machine and the Hub alters files: a proxy, or a broken mirror (HF_ENDPOINT).",
  });
}
