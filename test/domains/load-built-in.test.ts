import { expect, test } from "vitest";
import { loadBuiltIn } from "../../lib/domains/load-built-in.ts";
import { VERIFIER_DOMAINS, VERIFIERS } from "../../lib/domains/verifiers.ts";

test("every built-in verifier is found in its domain, and in no other", async () => {
  for (const { name } of VERIFIERS.filter((verifier) => verifier.name !== "code")) {
    expect((await loadBuiltIn(VERIFIER_DOMAINS.get(name)!, name))?.name).toBe(name);
    const other = VERIFIER_DOMAINS.get(name) === "choice" ? "math" : "choice";
    expect(await loadBuiltIn(other, name)).toBeUndefined();
  }
});
