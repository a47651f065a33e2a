#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ps_proxy/native/native_job.h"

namespace tictac::native {

// The jobs that were seen on this host; few (the transport carries at most 256), kept until the end. Lcore
// only.
class JobRegistry {
 public:
  // Finds or makes it.
  NativeJob& get(std::string_view name) {
    for (const auto& job : jobs_) {
      if (job->name() == name) return *job;
    }
    jobs_.push_back(std::make_unique<NativeJob>(name));
    return *jobs_.back();
  }
  auto begin() const { return jobs_.begin(); }
  auto end() const { return jobs_.end(); }

 private:
  std::vector<std::unique_ptr<NativeJob>> jobs_;
};

}  // namespace tictac::native
