// What the native core has for learning from a teacher's whole distributions (csrc/kernels/divergence.h); a part of face.ts.

/** Of the N tokens that a batch's mask counts, in its order: what the teacher's head reads, or its k likeliest tokens. */
export interface TeacherTokens {
  /** [N, width]; a trainer that learns from it knows the head by `setTeacherHead`. */
  readonly teacherHidden?: Float32Array;
  /** [N, k], each once, and their natural logs at the temperature of training. */
  readonly teacherIds?: Int32Array;
  readonly teacherTopLogprobs?: Float32Array;
}

/** [T] natural logs of the tokens themselves beside them. */
export interface TeacherScores extends TeacherTokens {
  readonly logprobs: Float32Array;
}

/** coef times the mean over the step's counted tokens of their divergence: KL(teacher || policy) at beta 0, its reverse at 1. */
export interface TeacherTerm {
  readonly coef: number;
  readonly beta: number;
  /** Tokens weigh as in KL and entropy terms, 1 / (N n) of a sequence of n, instead of all alike. Default: false. */
  readonly bySequence?: boolean;
  /** Beside k likeliest tokens all others are one more, at beta 1; without it both distributions are divided by their mass on the k. */
  readonly rest?: boolean;
}

/** Rows of the matrix that makes logits; `softcap`: what those are capped at, or 0. */
export interface TeacherHead {
  readonly weights: Float32Array;
  readonly width: number;
  readonly softcap: number;
}

/** Of several ranks all make each call together; `teacherHead` they may make alone where weights are whole. */
export interface TeacherFace<Batch> {
  /** As a teacher. `topK` 0: hidden states. */
  teach(batch: Batch, temperature: number, topK: number): Promise<TeacherScores>;
  /** The same: what reads them. */
  teacherHead(): Promise<TeacherHead>;
  /** As its student: for steps whose batches have `teacherHidden`. */
  setTeacherHead(head: TeacherHead): Promise<void>;
}
