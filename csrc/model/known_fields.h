// Decides whether fields of config.json that no architecture reads would change the model's output.
#pragma once

#include "core/config_fields.h"

namespace hone::model {

/// Sorts the fields that were not read. Fields that cannot affect logits are dropped. Fields that would
/// change logits become kUnsupported problems, unless they have the one value that changes nothing. All other
/// fields are appended to problems.unknown.
void judge_unread(const ConfigFields& fields, ConfigProblems& problems);

/// Returns a sentence that says so if model_type or a number of experts shows a mixture of experts that no
/// architecture supports; else "".
std::string experts_of(const Json& config);

}  // namespace hone::model
