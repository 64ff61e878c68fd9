// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace zkrecipes {

/// How long to pause between attempts: initial_delay, growing by multiplier up to max_delay, each shortened at random
/// by up to `jitter` (0..1) of itself so that a fleet does not come back in step.
struct RetryPolicy {
  std::chrono::milliseconds initial_delay{50};
  std::chrono::milliseconds max_delay{5'000};
  double multiplier = 2.0;
  double jitter = 0.5;
  /// Close the connection when no session could be had for this long. Zero: never give up.
  std::chrono::milliseconds give_up_after{0};
};

/// Sent to the server on every new connection, e.g. {"digest", "user:password"}.
struct Credential {
  std::string scheme;
  std::string secret;
};

/// Who may do what with the nodes that the library creates.
class Acl {
 public:
  struct Entry {
    int permissions;  ///< any of the constants below, or-ed
    std::string scheme;
    std::string id;
  };
  static constexpr int kRead = 1, kWrite = 2, kCreate = 4, kDelete = 8, kAdmin = 16, kAll = 31;

  Acl();  ///< open: anybody may do anything
  explicit Acl(std::vector<Entry> entries);
  static Acl open();
  static Acl creator_all();  ///< only who holds this connection's credentials
  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// Files in PEM form. Works only with a C client that was built with TLS; otherwise Connection's constructor throws.
struct TlsOptions {
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string key_password;
};

/// What must answer before a hold is believed to be valid for longer.
enum class LeaseProof {
  /// A quorum of the ensemble: one small refused write per heartbeat and connection with holds. A hold is never valid
  /// beside another client's, whichever servers are cut off or paused.
  quorum,
  /// The leader alone: one `sync` per heartbeat, which is not written to any log. A leader that is cut off from its
  /// quorum, with this client on its side, still answers for up to syncLimit ticks, while the others elect a new leader
  /// and may give the lock away. The fencing token still protects the resource.
  leader,
};

struct ConnectionOptions {
  std::string servers;  ///< "host:port,host:port/chroot"; the port defaults to 2181
  /// At least three ticks of the server, 6 s by default; see docs/guarantees.md.
  std::chrono::milliseconds session_timeout{10'000};
  RetryPolicy retry;
  std::vector<Credential> credentials;
  Acl acl;
  std::string identity;  ///< for people: stored in lock nodes; at most 64 KiB; default "host:pid"
  /// Kept back from the negotiated timeout when computing how long holds are valid; default: a quarter of it.
  std::optional<std::chrono::milliseconds> validity_margin;
  LeaseProof lease_proof = LeaseProof::quorum;
  std::optional<TlsOptions> tls;
};

}  // namespace zkrecipes
