#pragma once

#include <string>

namespace tictac::native {

// The statistics of the proxy at this socket, without becoming a client. A tictac_status; waits at most 2 s.
int read_stats(const std::string& socket, std::string* document);

}  // namespace tictac::native
