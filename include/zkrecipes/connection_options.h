// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zkrecipes/log.h"

namespace zkrecipes {

class Observer;

/// The pauses between attempts (backoff): initial_delay, growing by multiplier up to max_delay. Each pause is shortened
/// at random by up to `jitter` (0..1) of itself, so that the clients of a fleet do not retry in step.
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

/// The permissions on the nodes that the library creates. A value: copies are independent. The server asks the ACL of a
/// node whether it may be read or written, and the ACL of its parent whether it may be created or removed.
class Acl {
 public:
  struct Entry {
    int permissions;  ///< any of the constants below, or-ed
    std::string scheme;
    std::string id;
  };
  static constexpr int kRead = 1, kWrite = 2, kCreate = 4, kDelete = 8, kAdmin = 16, kAll = 31;

  Acl();  ///< open: anybody may do anything
  /// Throws std::invalid_argument if there is no entry, or if one has no scheme, no permission or unknown ones, or an
  /// id that its scheme (world, digest) cannot have.
  explicit Acl(std::vector<Entry> entries);
  static Acl open();
  /// Only clients with the credentials of the connection that creates the node. Needs credentials, or a certificate.
  static Acl creator_all();
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

/// Which servers must answer before a hold counts as valid for longer.
enum class LeaseProof {
  /// A quorum of the ensemble: one small refused write per heartbeat and connection with holds. A hold is never valid
  /// beside another client's, whichever servers are cut off or paused.
  quorum,
  /// The leader alone: one `sync` per heartbeat, which is not written to any log. A leader that is cut off from its
  /// quorum, with this client on its side, still answers for up to syncLimit ticks, while the others elect a new leader
  /// and may grant the lock to another client. The fencing token still protects the resource.
  leader,
};

/// Settings of a Connection, checked by its constructor.
///
///     zkrecipes::ConnectionOptions options;
///     options.servers = "zk1:2181,zk2:2181,zk3:2181";
///     options.session_timeout = std::chrono::seconds(6);
///     zkrecipes::Connection connection(options);
struct ConnectionOptions {
  std::string servers;  ///< "host:port,host:port/chroot"; the port defaults to 2181
  /// What happens when the chroot of `servers` does not exist. True: the first acquire makes it, with its parents, and
  /// logs that (severity info). False: nothing is made, and each call that acquires throws Error(unusable_path) until
  /// somebody has made it; a PendingHold ends with that error. A wrong chroot is then noticed at the first acquire, and
  /// not earlier: constructors, wait_until_connected(), contenders() and holder() do not look for it. Make the chroot
  /// by hand then: one that the library has made is a container, which the server removes when it has been empty for
  /// some minutes. Not used with a handle of the program, whose chroot is the program's to make.
  bool create_chroot = true;
  /// At least three ticks of the server: 6 s with the usual tickTime of 2 s, 9 s where none is configured; see
  /// docs/sessions.md.
  std::chrono::milliseconds session_timeout{10'000};
  RetryPolicy retry;
  std::vector<Credential> credentials;
  /// Of the nodes of holders and waiters, unless LockOptions::acl says otherwise. Nodes that others may not read hide
  /// identity and note. Others can still wait behind them.
  Acl acl;
  /// Of missing parents that the library creates: the folders above a lock, the lock path itself where it has children
  /// (all but SimpleLock), and the two folders of a semaphore. Open by default, so that a private lock does not close
  /// a shared folder to others. A client needs kRead, kCreate and kDelete on the folder of a lock to use the lock, and
  /// kWrite, too, with LockOptions::version_token. With kDelete it can also remove the lock nodes of others.
  Acl parent_acl;
  /// For people: stored in lock nodes. One line of at most 64 KiB; default "host:pid".
  std::string identity;
  /// Holds are valid for at most the negotiated timeout less this margin. Default: a quarter of the timeout. Less than
  /// a twentieth of the timeout, which is for clocks that run at different speeds, counts as a twentieth, and more than
  /// half of it as half. Must not be negative.
  std::optional<std::chrono::milliseconds> validity_margin;
  LeaseProof lease_proof = LeaseProof::quorum;
  std::optional<TlsOptions> tls;
  /// Takes the lines that are about this connection, its locks and its holds, and those of the C client that say what
  /// is wrong, instead of glog. Lines of the C client that the library cannot attribute to a connection, because there
  /// are more than 64 handles with sinks at a time, go to glog all the same. The C client's lines about a handle that
  /// the program brought along go where the program has sent them (zoo_set_log_stream(), zoo_set_log_callback()).
  /// Default: glog. Until google::InitGoogleLogging() was called the library writes warnings and errors to the standard
  /// error output itself, and leaves lines of severity info out. docs/logging.md has the lines.
  LogSink log;
  /// Runs the callbacks of on_ready(), on_revoke, on_lost() and on_state_change(): it is given each of them as a
  /// function to be called once, now or later, on any thread. Default: threads of the connection call them. See
  /// Connection for what an executor may do. The executor may own threads. Exception: if a callback destroys
  /// the last object of the connection, the executor is destroyed on its own thread, which cannot join itself.
  std::function<void(std::function<void()>)> executor;
  /// Is notified of what the connection and its locks do; see zkrecipes/observer.h. Default: none.
  std::shared_ptr<Observer> observer;
};

}  // namespace zkrecipes
