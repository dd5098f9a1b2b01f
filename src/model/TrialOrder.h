#pragma once
#include "Workload.h"

#include "tilewright/model/Plan.h"

namespace tilewright::model {

/// The order in which ranked candidates should be tried.
///
/// A model that errs errs alike for neighbours: when 64 x 128 with 4 warps is slower than predicted, so is 64
/// x 128 with 8. The head of the list therefore hedges: each pick makes what lies near it a few percent
/// dearer, so that eight trials see several kinds of candidates as long as they are predicted to be nearly as
/// good. Distance is counted in doublings of the parameters. Where no loop is pipelined, every pipelining
/// depth gives the same code: all but one of those go to the end.
///
/// `ranked` is sorted by predicted time, and is left sorted by `orderNs`.
void orderTrials(const SpaceRequest &request, const WorkloadModel &model,
                 std::vector<PlannedCandidate> &ranked);

} // namespace tilewright::model
