import { EXIT } from "../exit.ts";
import { print, type Verb } from "./verb.ts";

export const schemaVerb: Verb = (hone, ends) => {
  hone
    .command("schema")
    .description("print the JSON Schema of recipes, which the package has as recipes/recipe.schema.json")
    .action(
      ends(async () => {
        const { recipeJsonSchema } = await import("../../config/index.ts");
        print({ json: true }, recipeJsonSchema(), "");
        return EXIT.done;
      }),
    );
};
