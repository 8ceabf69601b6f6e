/** recipes/apriel-15b.ts with the sequence weights of the paper's equation 2, 1/G (docs/reference/recipe.md). */
import { defineRecipe } from "hone-rl";
import apriel from "./apriel-15b.ts";

const objective = { ...apriel.objective, sequenceWeight: "uniform" } as const;
export default defineRecipe({ ...apriel, name: "apriel-15b-uniform", objective });
