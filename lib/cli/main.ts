#!/usr/bin/env node
// Imports no other module at the top, so that a failure to load one can be explained in words.
import { readFileSync } from "node:fs";

/**
 * Files that loading a verb has open at a time, with those of Node itself; under a lower limit an import
 * fails midway, perhaps while the verb is at work.
 */
const FILES_NEEDED = 256;
/**
 * GiB of address space that V8 reserves for itself and its threads and that a small run needs; with less, the
 * process crashes without a message.
 */
const ADDRESSES_NEEDED = 3;

const limits = readLimits();
const files = limitOf("Max open files");
const addresses = (limitOf("Max address space") ?? Number.POSITIVE_INFINITY) / 2 ** 30;

if (files !== undefined && files < FILES_NEEDED) {
  process.stderr.write(
    `HONE_ERR_IO  this process may open only ${files} files, too few to load the command\n` +
      `  hint: Raise the limit first: ulimit -n 1024 (at least ${FILES_NEEDED}).\n`,
  );
  process.exit(3);
}
if (addresses < ADDRESSES_NEEDED) {
  process.stderr.write(
    `HONE_ERR_OUT_OF_MEMORY  this process may use ${addresses.toFixed(1)} GiB of addresses, too few to run the command\n` +
      `  hint: Raise the limit first: ulimit -v unlimited (at least ${ADDRESSES_NEEDED * 2 ** 20}). It counts addresses, not memory used.\n`,
  );
  process.exit(3);
}
try {
  const { runCommand } = await import("./program.ts");
  await runCommand();
} catch (error) {
  process.stderr.write(`${startFault(error)}\n`);
  process.exitCode = 3;
}

/** Explains why the command did not start: usually Node's own message, plus a remedy. */
function startFault(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return [
    `HONE_ERR_IO  the command does not load: ${message}`,
    "  hint: node_modules is incomplete or damaged: install again (npm ci, or npm install hone-rl).",
  ].join("\n");
}

/** The soft limits of this process as Linux lists them; "" if they cannot be read. */
function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}

/** Returns the soft limit of that name; undefined if there is no limit or it is unknown. */
function limitOf(name: string): number | undefined {
  const limit = new RegExp(`^${name} +(\\d+)`, "m").exec(limits)?.[1];
  return limit === undefined ? undefined : Number(limit);
}
