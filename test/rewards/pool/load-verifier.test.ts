import { expect, test } from "vitest";
import { loadReward, loadVerifier } from "../../../lib/rewards/pool/load-verifier.ts";

const fixture = (name: string) => new URL(`../../fixtures/verifiers/${name}`, import.meta.url).href;
const completion = { text: "four", finish: "eos" } as const;

test("a TypeScript module with a default export, importing another one, loads on any Node", async () => {
  const verifier = await loadVerifier(fixture("typed.ts"));
  expect(verifier.name).toBe("typed");
  expect(() => verifier.parseReference(4)).toThrow("reference must be a string");
  expect(await verifier.verify(completion, verifier.parseReference("four"))).toMatchObject({
    status: "correct",
  });
});

test("a JavaScript module with a named export and no parseReference takes references as they are", async () => {
  const verifier = await loadVerifier(fixture("named.mjs"));
  expect(verifier.parseReference("four")).toBe("four");
  expect(await verifier.verify(completion, "four")).toMatchObject({ score: 1 });
});

test("limits of its own are kept, and a mistake in them is named", async () => {
  const { limits } = await loadVerifier(fixture("limited.mjs"));
  expect(limits).toEqual({ timeoutMs: 400, heapMb: 64, concurrency: 1 });
  await expect(loadVerifier(fixture("limitless.mjs"))).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringContaining("limits.timeOutMs is unknown; known: timeoutMs, concurrency, heapMb"),
  });
});

test("a module without a verifier is refused by its address", async () => {
  await expect(loadVerifier(fixture("empty.mjs"))).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringContaining("empty.mjs exports no verifier"),
  });
});

test("a module that cannot be imported is refused by its path, with what it threw as the cause", async () => {
  await expect(loadVerifier(fixture("broken.mjs"))).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringMatching(/^\/.*broken\.mjs cannot be imported: broken on import$/),
    cause: expect.objectContaining({ message: "broken on import" }),
  });
  await expect(loadReward(fixture("absent.mjs"))).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringMatching(/^\/.*absent\.mjs cannot be imported: the file does not exist$/),
  });
});

test("the name of a reward's export may be escaped; a % that begins no escape is refused", async () => {
  expect(await loadReward(`${fixture("rewards.ts")}#%6Fbedient`)).toBeDefined();
  await expect(loadReward(`${fixture("rewards.ts")}#%zz`)).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringMatching(
      /^\/.*rewards\.ts: the name #%zz has a % that is not part of a %XX escape$/,
    ),
    hint: "Write %25 for a percent sign.",
  });
});
