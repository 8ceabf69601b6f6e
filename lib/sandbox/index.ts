export { choiceText, sandboxChoice } from "./choose.ts";
