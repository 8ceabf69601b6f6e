import { z } from "zod";
import { readLiteral } from "../../../../python/literal.ts";
import { equals, list, str } from "../../../../python/value.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "cipher";
const MARKS = 4;
const schema = z.object({ answer: z.coerce.string() });

/**
 * A text to encrypt or decrypt: the text after the last ```` ```python ````, up to the next fence, is the list
 * `[["text"]]` of the stored answer, written `[[text]]`. A literal, never executed.
 */
export const cipher: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data) {
    const mark = answer.lastIndexOf("```python");
    const block = answer.slice(mark < 0 ? 0 : mark + "```python".length).split("```", 1)[0]!;
    const literal = readLiteral(block.trim());
    if ("fault" in literal) return wrong(literal.fault);
    const characters = [...data.answer];
    const gold = characters.length >= MARKS ? characters.slice(2, -2).join("") : data.answer;
    return equals(literal.value, list([list([str(gold)])])) ? correct("the text") : wrong("another text");
  },
};
