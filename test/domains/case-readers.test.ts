import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CASE_READERS } from "../../lib/domains/case-readers.ts";
import { VERIFIERS } from "../../lib/domains/verifiers.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/verify.md", import.meta.url)), "utf8");

test.each([...CASE_READERS])(
  "cases of %s are documented, and a row without fields is refused",
  async (domain, read) => {
    expect(page).toContain(`\n## ${domain}\n`);
    const reading = Promise.resolve().then(() => read({}, "strict", "."));
    await expect(reading).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
  },
);

test("the page documents no domain that is not read", () => {
  const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, name]) => name);
  expect(sections.filter((name) => !CASE_READERS.has(name!))).toEqual(["Agreement"]);
});

test("a math case goes to a verifier that the pool knows", async () => {
  const { verifier } = await CASE_READERS.get("math")!({ gold: "1", response: "\\boxed{1}" }, ".");
  expect(VERIFIERS).toContain(verifier);
});
