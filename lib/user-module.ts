/**
 * Imports a module of the user's by file URL. `.ts` works on every supported Node: jiti is loaded where Node itself does
 * not strip types (before 22.18). Errors of the import pass through.
 */
export async function importUserModule(url: string): Promise<Record<string, unknown>> {
  const stripsTypes = Boolean((process.features as { typescript?: unknown }).typescript);
  if (!/\.[cm]?ts$/.test(new URL(url).pathname) || stripsTypes) return await import(url);
  const { createJiti } = await import("jiti");
  return await createJiti(import.meta.url).import(url);
}
