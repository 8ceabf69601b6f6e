// Runs the page's files unchanged: loaded as `hone run` does, trained on a core without arithmetic, against a server
// that is unreachable at first and then answers 500.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { loadEntry } from "../../lib/cli/load-recipe.ts";
import { createRun } from "../../lib/orchestration/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { bodyOf, SwitchedServer } from "../trackers/fixtures.ts";

const page = readFileSync(new URL("../../docs/how-to/write-a-tracker.md", import.meta.url), "utf8");
const folder = mkdtempSync(join(fileURLToPath(new URL("../../", import.meta.url)), "build", "how-to-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the tracker of write-a-tracker.md takes every step once, over a kill, a fault and a resume", async () => {
  const asked: unknown[] = [];
  let fault = 500;
  const server = await SwitchedServer.off(async (request, response) => {
    const body = JSON.parse(await bodyOf(request)) as object;
    const status = asked.length === 0 ? fault : 200;
    if (status !== 200) fault = 200;
    else asked.push([request.url, request.headers.authorization, body]);
    response.writeHead(status).end(JSON.stringify({ id: "r7" }));
  });
  for (const [, name, code] of page.matchAll(/```ts file=(\S+)\n([\s\S]*?)```/g))
    writeFileSync(join(folder, name!), code!.replace("http://127.0.0.1:8000", server.url));
  const file = join(folder, "train.ts");
  const dir = join(folder, "run");
  const { recipe, sinks } = await loadEntry(file);
  process.env["BOARD_TOKEN"] = "t";
  const start = async (resume: "auto" | "never") => {
    await using run = await createRun(recipe, { dir, resume, verifiers, core: standInCore(), sinks });
    return await run.finished;
  };
  expect(await start("never")).toMatchObject({ reason: "done", steps: 3 });
  expect(asked).toEqual([]);
  await server.switchOn();
  for (let tries = 0; tries < 5 && asked.length < 3; ++tries) await start("auto");
  const at = expect.any(Number);
  const point = (step: number) => expect.objectContaining({ step, at });
  expect(asked.slice(0, 3)).toEqual([
    [
      "/runs",
      "Bearer t",
      { key: expect.stringMatching(/^[0-9a-f]{32}$/), name: "with-a-board", recipe: expect.anything() },
    ],
    ["/runs/r7/points", "Bearer t", { points: [point(1), point(2), point(3)] }],
    ["/runs/r7/state", "Bearer t", { state: "finished" }],
  ]);
  const kept = readFileSync(join(dir, "trackers", "board.json"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({ memory: { id: "r7" }, refused: 0 });
});
