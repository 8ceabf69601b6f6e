import { createHash, randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { CPP_FLAGS, type CppProgram, compileCpp } from "./cpp-compiler.ts";
import { cppCompiler } from "./find-compiler.ts";

/** Number of compiled checkers that are kept in memory; others are read again from the folder. */
const MOST_KEPT = 64;

const kept = new Map<string, Promise<Buffer>>();

/**
 * The binary of a C++ program: compiled once by the processes of this user, which share a folder for temporary files.
 * Rejects as compileCpp does; a program that does not compile is compiled again when it is next asked for.
 */
export async function compiled(program: CppProgram, bwrap: string): Promise<Buffer> {
  const compiler = cppCompiler();
  const key = keyOf(program, compiler);
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (kept.size === MOST_KEPT) kept.delete(kept.keys().next().value!);
  const made = readOrCompile(join(folder(), key), () => compileCpp(program, bwrap, compiler));
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}

function keyOf({ source, headers }: CppProgram, compiler: string): string {
  const hash = createHash("sha256");
  const parts = [compiler, ...CPP_FLAGS, source, ...[...headers].flat()];
  for (const part of parts) hash.update(`${part.length}\n`).update(part);
  return hash.digest("hex");
}

async function readOrCompile(path: string, compile: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return readFileSync(path);
  } catch {
    const binary = await compile();
    const partial = `${path}.${randomUUID()}`;
    writeFileSync(partial, binary, { mode: 0o600 });
    renameSync(partial, path); // the rename lets no other process read a partial file
    return binary;
  }
}

/** Throws HONE_ERR_IO if the folder belongs to another user, who could put other programs there. */
function folder(): string {
  const { uid } = userInfo();
  const path = join(tmpdir(), `hone-compiled-${uid}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  if (found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0) return path;
  throw new HoneError("HONE_ERR_IO", `${path} is not a folder that you alone can write to`, {
    hint: "Remove it, or set TMPDIR to a folder of yours.",
  });
}
