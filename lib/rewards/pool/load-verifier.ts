import { type RewardFunction, rewardedReference, rewardInput } from "../../domains/reward.ts";
import type { Completion, Verifier, VerifierLimits } from "../../domains/verifier.ts";
import { HoneError } from "../../errors.ts";
import { exportPlace, importUserModule, type ModuleUse } from "../../user-module.ts";

const USE: ModuleUse = {
  code: "HONE_ERR_VERIFIER",
  hint: "Every verifier process imports it from this path.",
};

/**
 * Imports a user's verifier: a module whose default export, or export named `verifier`, has `verify` and
 * optionally `parseReference`, `prepare`, `limits`, `name` and `version`. `.ts` files work on every supported Node.
 * Throws HONE_ERR_VERIFIER when the module cannot be imported or exports no such thing.
 */
export async function loadVerifier(url: string): Promise<Verifier> {
  const module = await importUserModule(url, USE);
  const exported = (module["default"] ?? module["verifier"]) as Partial<Verifier> | undefined;
  if (typeof exported?.verify !== "function") {
    throw new HoneError("HONE_ERR_VERIFIER", `${url} exports no verifier`, {
      hint: "Export default an object with verify(completion, reference).",
    });
  }
  return {
    name: exported.name ?? url,
    version: exported.version ?? 1,
    ...(exported.limits ? { limits: checkLimits(exported.limits, url) } : {}),
    parseReference: (raw) => (exported.parseReference ? exported.parseReference(raw) : raw),
    verify: (completion, reference) => exported.verify!(completion, reference),
    ...(exported.prepare ? { prepare: () => exported.prepare!() } : {}),
  };
}

/** A verifier, or a reward function in its place, whose results still need checks. */
export type Loaded = Pick<Verifier, "limits" | "parseReference" | "prepare"> & {
  verify(completion: Completion, reference: unknown, signal: AbortSignal): unknown;
};

/**
 * Imports a reward of the user's by URL, "file:///srv/module.ts" or "file:///srv/module.ts#name". The export is a reward function,
 * with limits in a further export `limits`, or an object as loadVerifier takes it. Its references are RewardedReference.
 * Throws HONE_ERR_VERIFIER when the module cannot be imported or has no such export.
 */
export async function loadReward(place: string): Promise<Loaded> {
  const { url, name } = exportPlace(place, USE);
  const module = await importUserModule(url, USE);
  const exported = name ? module[name] : (module["default"] ?? module["reward"]);
  if (typeof exported === "function") {
    const reward = exported as RewardFunction;
    const limits = module["limits"] as VerifierLimits | undefined;
    return {
      ...(limits !== undefined && { limits: checkLimits(limits, url) }),
      parseReference: rewardedReference,
      verify: (completion, reference, signal) =>
        reward(rewardInput(completion, rewardedReference(reference), signal)),
    };
  }
  const verifier = exported as Partial<Verifier> | undefined;
  if (typeof verifier?.verify !== "function") {
    throw new HoneError("HONE_ERR_VERIFIER", `${place} exports no reward`, {
      hint: "Export a function ({ prompt, completion, reference, signal }) => number, by default or named after #.",
    });
  }
  return {
    ...(verifier.limits && { limits: checkLimits(verifier.limits, url) }),
    parseReference: (raw) => {
      const { reference } = rewardedReference(raw);
      return verifier.parseReference ? verifier.parseReference(reference) : reference;
    },
    verify: (completion, reference) => verifier.verify!(completion, reference),
    ...(verifier.prepare && { prepare: () => verifier.prepare!() }),
  };
}

const LIMITS = ["timeoutMs", "concurrency", "heapMb"] as const satisfies readonly (keyof VerifierLimits)[];

/** The module was not compiled against our types. Throws HONE_ERR_VERIFIER. */
function checkLimits(limits: VerifierLimits, url: string): VerifierLimits {
  for (const [name, value] of Object.entries(limits)) {
    const problem = !LIMITS.some((known) => known === name)
      ? `unknown; known: ${LIMITS.join(", ")}`
      : !Number.isSafeInteger(value) || value < 1
        ? `${JSON.stringify(value)}, not a positive integer`
        : undefined;
    if (problem !== undefined)
      throw new HoneError("HONE_ERR_VERIFIER", `${url}: limits.${name} is ${problem}`);
  }
  return limits;
}
