// Deliberate faults (mutants) that these tests detect: a line every second, a line after progress, silence during an
// evaluation.
import { expect, onTestFinished, test } from "vitest";
import { Silence } from "../../lib/cli/silence.ts";

function watched() {
  const said: string[] = [];
  let now = 0;
  const silence = new Silence((line) => said.push(`${now / 1000}: ${line}`), { now: () => now });
  onTestFinished(() => silence.close());
  const until = (seconds: number) => {
    for (; now < seconds * 1000; silence.look()) now += 1000;
  };
  return { said, silence, until };
}

test("says what is waited for after 10 s without progress, then after 20 s, 40 s, ...", () => {
  const { said, silence, until } = watched();
  silence.broken("evaluation before: 3 of 96 answers judged");
  until(30);
  silence.waits("trainer waits for verifier `reward:mine`");
  until(60);
  expect(said).toEqual([
    "10: no progress for 10 s: evaluation before: 3 of 96 answers judged",
    "20: no progress for 20 s: evaluation before: 3 of 96 answers judged",
    "40: no progress for 40 s: trainer waits for verifier `reward:mine`",
  ]);
});

test("progress begins the wait again, and with nothing under way nothing is said", () => {
  const { said, silence, until } = watched();
  until(60);
  expect(said).toEqual([]);
  silence.broken("training: 0 of 9");
  until(69);
  silence.broken();
  until(78);
  expect(said).toEqual([]);
  until(79);
  expect(said).toHaveLength(1);
  silence.broken("");
  until(200);
  expect(said).toHaveLength(1);
});
