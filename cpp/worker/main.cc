// rocktune-worker: executes one run of a store in a process of its own (docs/design/worker-protocol.md).

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "worker/command_reader.h"
#include "worker/reply_writer.h"
#include "worker/session.h"

namespace {

// Lets the kernel kill this process when its parent ends.
void EndWithParent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {  // the parent ended before the signal was requested
    _exit(0);
  }
}

// Disables core dumps. The core of a failed assertion would write the run's whole memory to disk.
void DisableCoreDumps() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

// Returns a descriptor of the standard output for the protocol, and redirects standard output to standard
// error, so that output of libraries does not mix with the protocol.
int RedirectStandardOutput() {
  const int protocol = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return protocol;
}

}  // namespace

int main() {
  using rocktune::Session;
  EndWithParent();
  DisableCoreDumps();
  rocktune::ReplyWriter replies(RedirectStandardOutput());
  std::ios::sync_with_stdio(false);
  Session session([&](const nlohmann::json& line) { replies.Write(line); },
                  [&](const rocktune::RunError& error) { replies.WriteLast(Session::ErrorLine(error), 1); });
  replies.Write(Session::Hello());
  auto* commands =
      new rocktune::CommandReader(&std::cin);  // never deleted: its thread runs until the process ends
  for (;;) {
    switch (session.Handle(commands->Next())) {
      case Session::Next::kGoOn:
        break;
      case Session::Next::kEnd:
        // Without destructors: the driver deletes a store that was not closed with `keep`, so flushing it and
        // waiting for its compactions would waste time.
        _exit(0);
      case Session::Next::kFailed:
        _exit(1);
    }
  }
}
