// Communication between ranks before and after a step, so that either all of them make the step or none does.
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

/// sha256, in hex, of all inputs of a step that must be equal on all ranks.
std::string step_fingerprint(const TrainingBatch& batch, const StepOptions& options, const TrainerConfig& config,
                             uint32_t version, int64_t optimizer_steps);

/// sha256, in hex, of all inputs of a scoring pass that must be equal on all ranks, including which results
/// of `scores` are requested.
std::string score_fingerprint(const TrainingBatch& batch, float temperature, const TokenScores& scores, const TrainerConfig& config);

/// Runs `work` and returns its exception, or null. Collective errors are thrown, not returned: after one the
/// ranks can no longer communicate.
std::exception_ptr kept_failure(const std::function<void()>& work);

/// All ranks call it together. Returns if no rank has a failure and all have the same fingerprint. Otherwise
/// every rank throws: a rank with a failure its own exception, the others kCollective with the message of the
/// failed rank; or kState naming the rank whose fingerprint differs from rank 0's. what: name of the call in
/// messages.
void agree(dist::Communicator& ranks, const char* what, const std::exception_ptr& failure, const std::string& fingerprint = {});

/// Runs `work` on rank 0 while the other ranks wait; if it fails, all ranks throw. what: name of the call in
/// messages. A collective.
void by_first(dist::Communicator& ranks, const char* what, const std::function<void()>& work);

/// The smallest non-negative number among those of all ranks; -1 if there is none. A collective.
int64_t first_of_ranks(dist::Communicator& ranks, int64_t own);

/// The micro-batches of one rank: number rank, rank + ranks, ...
std::vector<MicroBatch> dealt(const std::vector<MicroBatch>& all, int rank, int ranks);

/// Completes report and losses on every rank: per-token and per-sequence results come from the first of the
/// ranks that computed the sequence; times are those of the slowest rank. all: the micro-batches of the step,
/// dealt to teams of `team` ranks. A collective.
void gather_report(dist::Communicator& ranks, int team, const TrainingBatch& batch, const std::vector<MicroBatch>& all,
                   StepLosses& losses, StepReport& report);

/// Completes `scores` on every rank. Before, each rank has the scores of its own micro-batches or, in a team,
/// of its own rows of [N, ...]. A collective.
void gather_scores(dist::Communicator& ranks, int team, const TrainingBatch& batch, const std::vector<MicroBatch>& all,
                   const TokenScores& scores);

}  // namespace hone::trainer
