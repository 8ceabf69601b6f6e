/**
 * recipes/apriel-15b-uniform.ts with the training of GSPO's paper (Zheng et al. 2025, §5.1): four updates per batch, and
 * ratios clipped to [1 - 3e-4, 1 + 4e-4].
 */
import { defineRecipe } from "hone-rl";
import apriel from "./apriel-15b-uniform.ts";

const objective = { ...apriel.objective, clipLow: 3e-4, clipHigh: 4e-4 };
const training = { ...apriel.training, updatesPerBatch: 4 };
export default defineRecipe({ ...apriel, name: "apriel-15b-gspo", objective, training });
