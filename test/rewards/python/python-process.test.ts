import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { PythonProcess } from "../../../lib/rewards/python/python-process.ts";
import { pythonFolder } from "../../fixtures/python-pool.ts";

vi.setConfig({ testTimeout: 60_000 });

const folder = pythonFolder();
const processes: PythonProcess[] = [];
let printed = "";
function start(command: readonly string[] = ["python3"]): PythonProcess {
  const started = new PythonProcess(command, join(folder, "mine.py"), (text) => {
    printed += text;
  });
  processes.push(started);
  return started;
}
afterAll(() => {
  for (const one of processes) one.close();
});

const asked = (op: string, more: object = {}) => ({
  op,
  file: join(folder, "mine.py"),
  function: "f",
  ...more,
});
const member = { prompt: "p", completion: "c", isConversation: false, columns: {}, verl: {} };

test("requests are answered in their order; a process that ended answers none, and says why", async () => {
  writeFileSync(
    join(folder, "mine.py"),
    "import os\ndef f(completions, **kwargs):\n    if completions[0] == 'end': os.kill(os.getpid(), 9)\n    return [len(completions[0])]\n",
  );
  const one = start();
  expect((await one.ask(asked("load"))).about).toContain("f(completions, **kwargs) of mine.py");
  for (const completion of ["", "abc"])
    expect(await one.ask(asked("rate", { maxSteps: 1, members: [{ ...member, completion }] }))).toEqual({
      values: [completion.length],
    });
  const ending = one.ask(asked("rate", { maxSteps: 1, members: [{ ...member, completion: "end" }] }));
  await expect(ending).rejects.toThrow("the Python process ended (SIGKILL)");
  expect(one.isAlive).toBe(false);
  await expect(one.ask(asked("load"))).rejects.toThrow("SIGKILL");
});

test("it ends when its pipe is closed, also while the user's function is at work", async () => {
  writeFileSync(
    join(folder, "mine.py"),
    "def f(completions, **kwargs):\n    print('at work', flush=True)\n    while True: pass\n",
  );
  const one = start();
  const rating = one.ask(asked("rate", { maxSteps: 1, members: [member] }));
  rating.catch(() => {});
  await vi.waitFor(() => expect(printed).toContain("mine.py: at work\n"), { timeout: 30_000 });
  one.close();
  await expect(rating).rejects.toThrow("the Python process ended (exit code 0)");
});
