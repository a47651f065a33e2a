#include "ps_proxy/native/native_job.h"

#include <algorithm>
#include <utility>

namespace tictac::native {

NativeName& NativeJob::acquire(std::string_view text) {
  const auto found = names_.find(text);
  if (found != names_.end()) {
    ++found->second->users;
    return *found->second;
  }
  auto name = std::make_unique<NativeName>();
  name->text = text;
  name->users = 1;
  name->key = auto_key(text);
  if (name->key) auto_.add(*name->key);
  NativeName& result = *name;
  names_.emplace(std::string_view(result.text), std::move(name));
  return result;
}

void NativeJob::release(NativeName& name) {
  if (--name.users > 0) return;
  if (name.key) auto_.remove(*name.key);
  const auto found = names_.find(std::string_view(name.text));
  const std::unique_ptr<NativeName> keep = std::move(found->second);  // the key lies in it
  names_.erase(found);
}

std::unique_ptr<const RankTable> NativeJob::set_table(std::unique_ptr<const RankTable> table) {
  ++epoch_;
  return std::exchange(table_, std::move(table));
}

void NativeJob::refresh(Time now) {
  if (auto_.refresh(now)) ++epoch_;
}

Rank NativeJob::compute(const NativeName& name) const {
  if (table_) {
    for (const std::string_view form : forms_of(name.text)) {
      if (const auto level = table_->find(form)) return *level;
    }
    if (const auto level = table_->default_level()) return *level;
  }
  constexpr size_t kLast = RankTable::kMaxLevels - 1;
  const size_t first = std::min(table_ ? table_->levels() : 0, kLast);
  const size_t room = kLast - first;  // the last level of all is for names without a number
  const size_t wanted = auto_.levels();
  if (!name.key) return Rank(static_cast<uint32_t>(first + std::min(wanted, room)));
  const size_t place = auto_.rank_of(*name.key);
  return Rank(static_cast<uint32_t>(first + (wanted <= room ? place : place * room / wanted)));
}

Rank NativeJob::rank_of(NativeName& name) {
  if (name.epoch != epoch_) {
    name.rank = compute(name);
    name.epoch = epoch_;
  }
  return name.rank;
}

void NativeJob::begin(Fetch& fetch, Time now) {
  refresh(now);
  fetch.rank = rank_of(*fetch.name);
  fetch.version = version();
  fetch.epoch = epoch_;
  under_way_.push_back(fetch);
  ++counters.fetches;
}

Fetch* NativeJob::next_stale(bool* changed) {
  Fetch* fetch = under_way_.front();
  if (!fetch || fetch->epoch == epoch_) return nullptr;
  const Rank rank = rank_of(*fetch->name);
  *changed = rank != fetch->rank || version() != fetch->version;
  fetch->rank = rank;
  fetch->version = version();
  fetch->epoch = epoch_;
  under_way_.remove(*fetch);
  under_way_.push_back(*fetch);
  counters.reranks += *changed ? 1 : 0;
  return fetch;
}

}  // namespace tictac::native
