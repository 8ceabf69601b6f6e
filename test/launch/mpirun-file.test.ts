import { expect, test } from "vitest";
import { mpirunFile } from "../../lib/launch/mpirun-file.ts";
import { expectBash, jobOf } from "./jobs.ts";

test("one agent a node, with what it needs to find the others", () => {
  const { text, submit } = mpirunFile(jobOf(), { hostfile: "hosts", extra: ["--oversubscribe"] });
  expectBash(text);
  const line = text.split("\n").find((each) => each.trimStart().startsWith("mpirun "))!;
  expect(line).toContain("-np 8 --map-by ppr:1:node --mca odls_base_sigkill_timeout 120");
  expect(line).toContain("--hostfile hosts --oversubscribe");
  for (const name of [
    "HONE_RUN_ID",
    "HONE_STORE",
    "HONE_RESTARTS",
    "HONE_LAUNCH",
    "HONE_REDIS_PASSWORD_FILE",
  ])
    expect(line).toContain(`-x ${name}`);
  expect(submit("run.sh")).toEqual(["bash run.sh"]);
});

test("a store that is there is not started", () => {
  expect(mpirunFile(jobOf()).text).toContain("redis-server");
  const { text } = mpirunFile(jobOf({ store: "redis://there:6379" }));
  expectBash(text);
  expect(text).not.toContain("redis-server");
});
