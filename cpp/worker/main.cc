// rocktune-worker: one run of a RocksDB store in a process of its own (docs/design/worker-protocol.md).

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

void TieToParent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {  // it died before the signal was asked for
    _exit(0);
  }
}

// The core of a failed assertion would put all of a run's memory on disk.
void DumpNoCore() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

// Standard output carries the protocol alone; what libraries print there goes to standard error.
int TakeStandardOutput() {
  const int protocol = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return protocol;
}

}  // namespace

int main() {
  using rocktune::Session;
  TieToParent();
  DumpNoCore();
  rocktune::ReplyWriter replies(TakeStandardOutput());
  std::ios::sync_with_stdio(false);
  Session session([&](const nlohmann::json& line) { replies.Write(line); },
                  [&](const rocktune::RunError& error) { replies.WriteLast(Session::ErrorLine(error), 1); });
  replies.Write(Session::Hello());
  auto* commands = new rocktune::CommandReader(&std::cin);  // read until the process ends
  for (;;) {
    switch (session.Handle(commands->Next())) {
      case Session::Next::kGoOn:
        break;
      case Session::Next::kEnd:
        // A run that was not closed with `keep` ends with the process, its store as it is: the data is thrown
        // away, and flushing it and waiting for compactions would take time for nothing.
        _exit(0);
      case Session::Next::kFailed:
        _exit(1);
    }
  }
}
