// The native core's interface for learning from a teacher's whole distributions (csrc/kernels/divergence.h); a part of
// face.ts.

/** For the N tokens that a batch's mask counts, in its order: inputs of the teacher's head, or its k likeliest tokens. */
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
  /**
   * Adds all other tokens as one more beside the k likeliest, at beta 1; without it both distributions are divided by
   * their mass on the k.
   */
  readonly rest?: boolean;
}

/** Rows of the matrix that computes logits; `softcap`: their cap, or 0. */
export interface TeacherHead {
  readonly weights: Float32Array;
  readonly width: number;
  readonly softcap: number;
}

/** With several ranks, all ranks make each call together; a single rank may call `teacherHead` if weights are not sharded. */
export interface TeacherFace<Batch> {
  /** Called on the teacher. `topK` 0 returns hidden states. */
  teach(batch: Batch, temperature: number, topK: number): Promise<TeacherScores>;
  /** Called on the teacher: the head that reads hidden states. */
  teacherHead(): Promise<TeacherHead>;
  /** Called on the student: the head for steps whose batches have `teacherHidden`. */
  setTeacherHead(head: TeacherHead): Promise<void>;
}
