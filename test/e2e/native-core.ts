import { info } from "../../lib/native/index.ts";

/** Why tests that need the addon are skipped; undefined if the addon loads. */
export const noAddon: string | undefined = (() => {
  try {
    info();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
})();
if (noAddon !== undefined) console.warn(`skipped, no native core: ${noAddon}`);
