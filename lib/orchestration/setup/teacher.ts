import { maxContext, type Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import {
  type ModelOrigin,
  modelFacts,
  originOf,
  readModelFile,
  resolveModelFolder,
  withContext,
} from "../../inference/index.ts";
import type { ModelConfigJson, TrainerFace } from "../../native/face.ts";
import { openTokenizer } from "../../native/tokenizer.ts";
import type { Tokenizer } from "../../text/index.ts";
import type { Model } from "./model.ts";
import { expectSentTeacher } from "./sent-distributions.ts";
import { TeacherEndpoint } from "./teacher-endpoint.ts";

/** The model whose log-probs a policy learns from, loaded from a folder or behind a server. */
export type Teacher = FolderTeacher | ServedTeacher;

export interface ServedTeacher {
  readonly config?: undefined;
  readonly origin?: undefined;
  /** Throws HONE_ERR_CONFIG if the environment variable with the server's key is not set. */
  open(): TeacherEndpoint;
}

export interface FolderTeacher {
  readonly folder: string;
  /** config.json, as the core reads it. */
  readonly config: ModelConfigJson;
  readonly origin: ModelOrigin;
  /** Size of the model's vocabulary; the teacher's may have extra rows for ids that the model lacks. */
  readonly vocabulary: number;
  readonly beyond: number;
  /** Loads the folder's weights into a trainer. */
  fill(trainer: TrainerFace): Promise<void>;
}

/**
 * Undefined for a recipe without a teacher. Reads only a sample of the weights; does not call a server. Throws
 * HONE_ERR_CONFIG for a teacher with another vocabulary, too short a context or too much data to send, and the errors
 * of openModel for the folder's files.
 */
export async function openTeacher(
  recipe: Recipe,
  student: Pick<Model, "config" | "tokenizer">,
): Promise<Teacher | undefined> {
  const { folder: named, endpoint, divergence } = recipe.teacher ?? {};
  if (endpoint !== undefined) {
    if (endpoint.tokenizer !== undefined) {
      const folder = await resolveModelFolder(endpoint.tokenizer, { withWeights: false });
      expectOneTokenizer("teacher.endpoint.tokenizer", folder, student.tokenizer);
    }
    return { open: () => new TeacherEndpoint(endpoint, divergence?.topK ?? 0) };
  }
  if (named === undefined) return undefined;
  const folder = await resolveModelFolder(named);
  const context = maxContext(recipe);
  const config = withContext(readModelFile(folder, "config.json"), context);
  const { vocabulary, maxPositions } = modelFacts(config);
  const needed = modelFacts(student.config).vocabulary;
  const refuse = (message: string, hint: string): never => {
    throw new HoneError("HONE_ERR_CONFIG", `teacher.folder: ${folder} ${message}`, { hint });
  };
  expectOneTokenizer("teacher.folder", folder, student.tokenizer);
  if (vocabulary < needed)
    refuse(
      `has log-probs of ${vocabulary} tokens; the model samples from ${needed}`,
      "Take a teacher whose config.json has at least the model's vocab_size.",
    );
  if (maxPositions < context)
    refuse(
      `has ${maxPositions} positions; rollouts.maxPromptTokens + maxOutputTokens is ${context}`,
      "Lower rollouts.maxOutputTokens, or take a teacher with a longer context.",
    );
  if ((divergence?.topK ?? 0) > needed)
    refuse(
      `is asked for the ${divergence!.topK} likeliest tokens; the model has ${needed}`,
      "Lower teacher.divergence.topK, or leave it out for the whole vocabulary.",
    );
  expectSentTeacher(recipe, config);
  const sizes = { vocabulary: needed, beyond: vocabulary - needed };
  return { folder, config, origin: originOf(folder), ...sizes, fill: (trainer) => trainer.loadHf(folder) };
}

function expectOneTokenizer(field: string, folder: string, student: Tokenizer): void {
  const another = firstDifference(openTokenizer(folder), student);
  if (another === undefined) return;
  throw new HoneError(
    "HONE_ERR_CONFIG",
    `${field}: ${folder} has another tokenizer than the model: ${another}`,
    {
      hint: "A teacher scores the tokens that the policy sampled, so both need the same ids. Take one of the model's own family, or train on the teacher's answers instead.",
    },
  );
}

/** Describes the first id that the student can produce and the teacher reads differently. */
function firstDifference(teacher: Tokenizer, student: Tokenizer): string | undefined {
  const [theirs, ours] = [teacher.tokenBytes(), student.tokenBytes()];
  // special tokens have no bytes, so they are compared by name, which does not depend on the file's format
  const called = (of: Tokenizer, bytes: Uint8Array | undefined, id: number) =>
    bytes?.length ? Buffer.from(bytes).toString() : of.nameOf(id);
  for (const [id, bytes] of ours.entries()) {
    const here = called(student, bytes, id);
    const there = called(teacher, theirs[id], id);
    if (here !== there)
      return `token ${id} is ${JSON.stringify(there ?? null)} there, ${JSON.stringify(here ?? null)} here`;
  }
  return undefined;
}
