// Directory of the sockets on which processes answer questions about their runs.
//
// It is PENSTOCK_ATTACH if that is an absolute path, else $XDG_RUNTIME_DIR/penstock, else
// /tmp/penstock-UID. Only its owner can enter it, so that no other user can ask, or answer in place
// of a process. A socket is named PID.sock.
#pragma once

#include <sys/un.h>

#include <optional>
#include <string>
#include <vector>

namespace penstock {

// Returns false if PENSTOCK_ATTACH is 0: this process does not answer.
bool attach_is_wanted();
// Returns the directory of this process, made if it is not there; none if it cannot be made or is
// not safe.
std::optional<std::string> make_attach_directory();
// Returns the directories in which processes of this user may have sockets, the likeliest first.
std::vector<std::string> attach_directories();
// Returns why the directory cannot be trusted; empty if only this user can enter it, or if it is
// not there.
std::string distrust(const std::string& directory);

std::string attach_socket(const std::string& directory, int64_t pid);
// Returns the process that a file of the directory is the socket of.
std::optional<int64_t> pid_of_socket(const std::string& name);
// Returns the address of a path; none if the path is too long for one.
std::optional<sockaddr_un> socket_address(const std::string& path);

}  // namespace penstock
