import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VerifierPool } from "../../../lib/rewards/index.ts";
import { verifierEnvironment } from "../../../lib/rewards/pool/verifier-environment.ts";
import { patient } from "../../patience.ts";

const SECRETS = [
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "OPENAI_API_KEY",
  "WANDB_API_KEY",
  "MLFLOW_TRACKING_PASSWORD",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "NODE_AUTH_TOKEN",
  "GITHUB_TOKEN",
  "REDIS_URL",
  "DATABASE_URL",
  "HONE_STORE",
  "HONE_REDIS_PASSWORD",
  "HONE_REDIS_PASSWORD_FILE",
  "HONE_ENDPOINT_KEY",
  "SSH_AUTH_SOCK",
  "SOME_NEW_SECRET",
];
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-verifier-env-"));
});
afterAll(() => {
  rmSync(dir, { recursive: true });
  for (const name of SECRETS) delete process.env[name];
});

test("what programs need is kept, secrets and unknown variables are not", () => {
  const env = {
    PATH: "/bin",
    HOME: "/srv/me",
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
    NODE_OPTIONS: "--no-warnings",
    HONE_SANDBOX: "wasm",
    HTTPS_PROXY: "http://proxy:3128",
    http_proxy: "http://me:secret@proxy:3128",
    ...Object.fromEntries(SECRETS.map((name) => [name, "secret"])),
  };
  const { http_proxy: _, ...kept } = Object.fromEntries(
    Object.entries(env).filter(([name]) => !SECRETS.includes(name)),
  );
  expect(verifierEnvironment(env)).toEqual(kept);
  expect(verifierEnvironment(env, ["OPENAI_API_KEY", "NOT_SET"])).toEqual({
    ...kept,
    OPENAI_API_KEY: "secret",
  });
});

test(
  "a module in the pool sees no secret of this process but those that the recipe names",
  async () => {
    const path = join(dir, "tell.mjs");
    writeFileSync(
      path,
      `export default { verify: ({ text }) => ({ status: "wrong", score: 0, reason: JSON.stringify(Object.keys(process.env)) }) };`,
    );
    for (const name of SECRETS) process.env[name] = "secret";
    const seen = async (variables: readonly string[]) => {
      await using pool = new VerifierPool({ modules: { tell: pathToFileURL(path).href }, variables });
      const problem = {
        id: 1,
        domain: "d",
        family: "f",
        level: 0,
        question: "",
        verifier: "tell",
        reference: "",
      };
      const [verdict] = await pool.verify([{ problem, text: "", finish: "eos" }]);
      const names = JSON.parse((verdict as { reason: string }).reason) as string[];
      expect(names).toContain("PATH");
      return names.filter((name) => SECRETS.includes(name));
    };
    expect(await seen([])).toEqual([]);
    expect(await seen(["OPENAI_API_KEY"])).toEqual(["OPENAI_API_KEY"]);
  },
  patient(60_000),
);
