/** Run-length encoding of the tokens' weight versions: first token index, version, first token index, version, ... */
export function versionRuns(versions: Uint32Array): number[] {
  const runs: number[] = [];
  for (let i = 0; i < versions.length; i++) {
    if (i === 0 || versions[i] !== versions[i - 1]) runs.push(i, versions[i]!);
  }
  return runs;
}

/** Decodes versionRuns: returns one version per token. */
export function expandedRuns(runs: ArrayLike<number>, tokens: number): Uint32Array {
  const versions = new Uint32Array(tokens);
  for (let i = 0; i + 1 < runs.length; i += 2) versions.fill(runs[i + 1]!, runs[i]);
  return versions;
}
