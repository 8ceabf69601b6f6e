// Whether fields of config.json that no architecture reads would change the numbers.
#pragma once

#include "core/config_fields.h"

namespace hone::model {

/// Sorts the fields that were not read: those that cannot affect logits are dropped; those that would change logits are
/// kUnsupported problems unless they have the one value that does not; all others go to `unknown`.
void judge_unread(const ConfigFields& fields, ConfigProblems& problems);

/// A sentence if model_type or a number of experts shows a mixture that no architecture here has; else "".
std::string experts_of(const Json& config);

}  // namespace hone::model
