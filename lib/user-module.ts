/**
 * Imports a module of the user's by file URL. `.ts` works on every supported Node: jiti is loaded where Node itself does
 * not strip types (before 22.18). A URL with a query is a module of its own, evaluated anew. Errors of the import pass
 * through.
 */
export async function importUserModule(url: string): Promise<Record<string, unknown>> {
  const { pathname, search } = new URL(url);
  const stripsTypes = Boolean((process.features as { typescript?: unknown }).typescript);
  if (!/\.[cm]?ts$/.test(pathname) || stripsTypes) return await import(url);
  const { createJiti } = await import("jiti");
  // which leaves queries out
  return await createJiti(import.meta.url, { moduleCache: search === "" }).import(url);
}
