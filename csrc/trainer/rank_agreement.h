// Communication of ranks around a step, so that all of them make it or none does.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "dist/communicator.h"
#include "trainer/config.h"
#include "trainer/micro_batch_pass.h"
#include "trainer/packer.h"
#include "trainer/step.h"

namespace hone::trainer {

/// sha256 in hex of all inputs of a step that must be the same on all ranks.
std::string step_fingerprint(const TrainingBatch& batch, const StepOptions& options, const TrainerConfig& config,
                             uint32_t version, int64_t optimizer_steps);

/// The same for scoring; includes which results of `scores` are requested.
std::string score_fingerprint(const TrainingBatch& batch, float temperature, const TokenScores& scores, const TrainerConfig& config);

/// Runs `work` and returns its exception, except collective errors, which propagate: after one no rank answers any
/// more.
std::exception_ptr kept_failure(const std::function<void()>& work);

/// All ranks call it together. Returns if none has a failure and all have the same fingerprint. Otherwise every rank
/// throws: one with a failure its own, the others kCollective with that rank's message; kState naming the rank whose
/// fingerprint differs from rank 0's. what: names the call in messages.
void agree(dist::Communicator& ranks, const char* what, const std::exception_ptr& failure, const std::string& fingerprint = {});

/// Rank 0 works, the others wait; if it fails all throw. what: names the call in messages. A collective.
void by_first(dist::Communicator& ranks, const char* what, const std::function<void()>& work);

/// The smallest non-negative number of all ranks; -1 if there is none.
int64_t first_of_ranks(dist::Communicator& ranks, int64_t own);

/// The micro-batches of a rank: every P-th, beginning with its own number.
std::vector<MicroBatch> dealt(const std::vector<MicroBatch>& all, int rank, int ranks);

/// Makes report and losses whole on every rank: per-token and per-sequence results come from the first of the ranks that
/// had the sequence, times are those of the slowest rank. all: the micro-batches of the step, dealt to teams of `team` ranks.
void gather_report(dist::Communicator& ranks, int team, const TrainingBatch& batch, const std::vector<MicroBatch>& all,
                   StepLosses& losses, StepReport& report);

/// Completes `scores`, of which each rank has those of its micro-batches, in a team its own rows of [N, ...].
void gather_scores(dist::Communicator& ranks, int team, const TrainingBatch& batch, const std::vector<MicroBatch>& all,
                   const TokenScores& scores);

}  // namespace hone::trainer
