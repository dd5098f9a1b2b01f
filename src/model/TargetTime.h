#pragma once
#include "CudaRates.h"
#include "Workload.h"

#include "tilewright/model/Plan.h"

namespace tilewright::model {

/// Time of a workload on each kind of target, as a sum of named parts. See docs/cost-model.md for what they
/// mean and where the constants come from.
Prediction cpuTime(const Workload &load, const Target &target);
Prediction ascendTime(const Workload &load, const Target &target, const Candidate &candidate);
Prediction cudaTime(const Workload &load, const CudaRates &rates, const Candidate &candidate);

/// Sum of parts, and the largest one's name.
Prediction total(Parts partsNs);

/// Rounds of programs over cores: the work of all programs spread evenly, but not faster than whole programs
/// allow.
double spreadOverCores(double programNs, double fullProgramNs, double programs, double cores);

} // namespace tilewright::model
