// Follows docs/how-to/push.md as a user does, against a stand-in Hub. Deliberate faults (mutants) that these tests
// detect: a dry run reports that it sent files, another repository is asked.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { honeHere } from "../fixtures/hone-here.ts";
import { WritableHub } from "../fixtures/writable-hub.ts";

vi.setConfig({ testTimeout: 60_000 });

const page = readFileSync(new URL("../../docs/how-to/push.md", import.meta.url), "utf8");
const pushes = [...page.matchAll(/^(?:HF_TOKEN=\S+ )?npx hone (push .*?)(?: +#.*)?$/gm)].map(
  ([, line]) => line!,
);
const folder = mkdtempSync(join(tmpdir(), "hone-pushed-"));
const hub = new WritableHub();
let endpoint: string;
beforeAll(async () => {
  endpoint = await hub.listen();
  mkdirSync(join(folder, "models/sorting"), { recursive: true });
  writeFileSync(join(folder, "models/sorting/config.json"), "{}");
  writeFileSync(join(folder, "models/sorting/model.safetensors"), Buffer.alloc(3000, 7));
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const hone = (line: string, token = hub.token) =>
  honeHere(line.split(" "), { HF_ENDPOINT: endpoint, HF_TOKEN: token, HF_HOME: folder }, folder);

test("a dry run says what would be sent, the push sends it, and a second one has nothing to send", async () => {
  expect(pushes).toEqual([
    "push models/sorting org/sorting --dry-run",
    "push models/sorting org/sorting --private",
  ]);
  const dry = await hone(pushes[0]!);
  expect(dry).toMatchObject({ status: 0 });
  expect(dry.stdout).toContain(
    `org/sorting@main at ${endpoint} (new): 2 of 2 files, 2.9 KiB would be sent\n`,
  );
  expect(dry.stdout).toContain(
    "  new      model.safetensors  2.9 KiB\nno README.md: the model has no card\n",
  );
  expect(hub.repositories.size).toBe(0);
  const pushed = await hone(pushes[1]!);
  expect(pushed).toMatchObject({ status: 0 });
  expect(pushed.stdout).toMatch(new RegExp(`${endpoint}/org/sorting/commit/[0-9a-f]{40}\n$`));
  expect(hub.repositories.get("org/sorting")!.isPrivate).toBe(true);
  expect((await hone(pushes[1]!)).stdout).toContain(
    `org/sorting@main at ${endpoint}: has all of the files\n`,
  );
});

test("an error ends it with a code and the next step", async () => {
  const { status, stderr } = await hone("push models/sorting org/sorting", "hf_wrong");
  expect(status).toBe(3);
  expect(stderr).toMatch(/HONE_ERR_HUB .*status 401[\s\S]*hint: HF_TOKEN is not valid at this Hub/);
});
