import { EXIT } from "../exit.ts";
import { print, type Verb } from "./verb.ts";

export const schemaVerb: Verb = (hone, ends) => {
  hone
    .command("schema")
    .description("print the JSON Schema of recipes")
    .action(
      ends(async () => {
        const { recipeJsonSchema } = await import("../../config/index.ts");
        print({ json: true }, recipeJsonSchema(), "");
        return EXIT.done;
      }),
    );
};
