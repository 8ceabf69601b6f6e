import { expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import { encodePrompts } from "../../../lib/orchestration/pipeline/requested-prompts.ts";
import { PromptEncoder } from "../../../lib/orchestration/setup/prompts.ts";
import { LexiconTokenizer, plainFormat } from "../../../lib/text/index.ts";
import { requestOf } from "../pipeline-accounting.ts";

const format = plainFormat(new LexiconTokenizer(QUICKSTART_LEXICON));

test("requests keep their order and come with their prompt", async () => {
  const requests = (async function* () {
    yield requestOf(0, 0);
    yield requestOf(1, 0);
  })();
  const groups: number[] = [];
  for await (const { request, prompt } of encodePrompts(requests, new PromptEncoder(format, 48))) {
    expect(prompt.problem).toBe(request.problem);
    groups.push(request.group);
  }
  expect(groups).toEqual([0, 1]);
});
