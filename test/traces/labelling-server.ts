import type { IncomingMessage, ServerResponse } from "node:http";
import { CATEGORIES, type Category } from "../../lib/traces/categories.ts";
import { LocalServer } from "../fixtures/local-server.ts";

export interface Asked {
  readonly prompt: string;
  readonly seed: number;
  readonly temperature: number;
  readonly kind: "split" | "label";
  /** The numbered pieces or steps of a request. */
  readonly texts: readonly string[];
}

/** The server's reply: a text, an HTTP status, or no reply at all. */
type Said = string | number | "silence";

/** A server that divides traces and labels steps: every second piece starts a step, and `category` gives the labels. */
export class LabellingServer extends LocalServer {
  readonly asked: Asked[] = [];
  script: (asked: Asked, count: number) => Said = (asked) => this.proper(asked);
  category: (text: string, seed: number) => Category = (text) =>
    text.startsWith("(after") ? "final answer" : CATEGORIES[text.length % 6]!;

  proper({ kind, texts, seed }: Asked): string {
    if (kind === "split")
      return JSON.stringify({ starts: texts.map((_, i) => i + 1).filter((number) => number % 2 === 1) });
    const labels = texts.map((text, i) => ({ step: i + 1, category: this.category(text, seed) }));
    return JSON.stringify({ labels });
  }

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      const asked = askedIn(body);
      this.asked.push(asked);
      const said = this.script(asked, this.asked.length - 1);
      if (said === "silence") return;
      if (typeof said === "number") response.writeHead(said).end("no");
      else response.end(JSON.stringify({ choices: [{ message: { content: said } }] }));
    });
  }
}

function askedIn(body: string): Asked {
  const { messages, seed, temperature } = JSON.parse(body) as {
    messages: { content: string }[];
    seed: number;
    temperature: number;
  };
  const prompt = messages[0]!.content;
  const kind = prompt.includes("<pieces>") ? "split" : "label";
  const inside = /<(pieces|steps)>\n([\s\S]*)\n<\/\1>/.exec(prompt)![2]!;
  const texts = inside
    .split(/^\[\d+\] /m)
    .slice(1)
    .map((text) => text.trimEnd());
  return { prompt, seed, temperature, kind, texts };
}
