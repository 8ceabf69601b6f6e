import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "dyck_language";
const schema = z.object({ metadata: z.object({ full_sequence: z.string() }) });

/**
 * Asks for a completed sequence of brackets: the whole answer must be the stored one. Blanks, written-out \n
 * \t \r and a pair of quotes around it do not count.
 */
export const dyckLanguage: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata }) {
    const sequence = unquoted(
      answer
        .replace(/\s+/g, "")
        .replace(/\\[ntr]/g, "")
        .replaceAll("\\\\", "\\"),
    );
    return sequence === metadata.full_sequence ? correct("the sequence") : wrong("another text");
  },
};

function unquoted(text: string): string {
  const quote = text[0];
  return text.length >= 2 && (quote === '"' || quote === "'") && text.endsWith(quote)
    ? text.slice(1, -1)
    : text;
}
