/**
 * On-policy distillation (docs/how-to/distillation.md): the quick start's model, trained and exported to models/teacher,
 * is the teacher of a model of a third of its size.
 *
 *   npm run quickstart -- --dir runs/teacher
 *   npx hone export --run runs/teacher --out models/teacher
 *   npx hone run recipes/distillation.ts --dir runs/distilled
 */
import { overrideRecipe } from "hone-rl";
import quickstart from "./quickstart.ts";

export default overrideRecipe(quickstart, [
  "name=distillation",
  "model.config.width=64",
  "model.config.layers=2",
  "model.config.heads=2",
  "model.config.mlpWidth=160",
  "teacher.folder=models/teacher",
  // The teacher gives every group a signal, also groups of equal rewards, and an advantage to each token.
  "advantages.filter=none",
  "objective.kind=dapo",
  "objective.clipLow=0.2",
  "objective.clipHigh=0.28",
]);
