import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CASE_DOMAINS, loadCaseReader } from "../../lib/domains/case-readers.ts";
import { findBuiltIn } from "../../lib/domains/verifiers.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/reference/verify.md", import.meta.url)), "utf8");

test.each(CASE_DOMAINS)("cases of %s are documented, and a row without fields is refused", async (domain) => {
  const read = (await loadCaseReader(domain))!;
  expect(page).toContain(`\n## ${domain}\n`);
  const reading = Promise.resolve().then(() => read({}, "."));
  await expect(reading).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
});

test("the page documents no domain that is not read", () => {
  const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, name]) => name);
  expect(sections.filter((name) => !CASE_DOMAINS.includes(name!))).toEqual(["Agreement"]);
});

test("a math case goes to a verifier that the pool knows", async () => {
  const { verifier } = await (await loadCaseReader("math"))!({ gold: "1", response: "\\boxed{1}" }, ".");
  expect(await findBuiltIn("math")).toBe(verifier);
});

test("there is no reader for a domain that there is none of", async () => {
  expect(await loadCaseReader("../domains/math")).toBeUndefined();
});
