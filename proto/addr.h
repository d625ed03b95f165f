/* proto/addr.h -- where honed listens, and who may be at the other end.
 *
 * A Unix stream socket of mode 0600 in a directory that only its owner may write.  A
 * stale socket is removed only by the holder of the lock file beside it, and a new one
 * appears under its name only when it is ready (bind to a temporary name, chmod, rename).
 * Peers are known by the kernel's word (SO_PEERCRED), not by theirs.
 */
#ifndef HN_PROTO_ADDR_H
#define HN_PROTO_ADDR_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

#define HN_ADDR_MAX 107 /* bytes of a socket path the kernel takes */

/* The socket's path: `given` when not NULL, else $HONE_SOCKET, else
 * $XDG_RUNTIME_DIR/hone/honed.sock, else /run/hone/honed.sock for root and
 * /tmp/hone-UID/honed.sock for others.  Made absolute.  HONE_E_INVALID when it is longer
 * than HN_ADDR_MAX bytes (the message says how long) or empty. */
int hn_addr_path(const char *given, struct hn_buf *ret, struct hn_err *err) HN_NODISCARD;

/* The directory of the store: `given` when not NULL, else $HONE_HOME, else
 * $XDG_DATA_HOME/hone, else ~/.local/share/hone. Made absolute. Not created. */
int hn_addr_home(const char *given, struct hn_buf *ret, struct hn_err *err) HN_NODISCARD;

/* A listening socket and the lock that protects its name. */
struct hn_addr_listener {
	int fd;	     /* listening, close-on-exec; the caller may take it (set it to -1) */
	int lock_fd; /* flock held while open */
	int dir_fd;
	char *name; /* file name within the directory; NULL: it is not ours to remove */
};

/* Make the directory (0700) when it is missing, take the lock, remove a stale socket,
 * bind, listen; or take the listening socket of that name that a service manager gave us
 * (LISTEN_PID, LISTEN_FDS), whose name stays.  HONE_E_BUSY when another process holds the lock, HONE_E_PERMISSION when
 * the directory is not safe, HONE_E_IO. */
int hn_addr_listen(const char *path, struct hn_addr_listener *ret,
		   struct hn_err *err) HN_NODISCARD;

/* Remove the socket's name (still under the lock): later clients find nobody. */
void hn_addr_unlink(struct hn_addr_listener *l);

/* Unlink, close what is open, give the lock back. */
void hn_addr_close(struct hn_addr_listener *l);

/* Connect; blocking socket, close-on-exec.  HONE_E_NOT_FOUND when nobody answers there,
 * HONE_E_PERMISSION when the other end is another user's process. */
int hn_addr_connect(const char *path, int *ret_fd, struct hn_err *err) HN_NODISCARD;

/* Wait until nobody holds the lock of that socket: whoever served it has ended. 0, or
 * HONE_E_TIMEOUT. */
int hn_addr_wait_free(const char *path, int timeout_ms, struct hn_err *err) HN_NODISCARD;

/* The user at the other end, by the kernel. */
int hn_addr_peer(int fd, uid_t *ret_uid, pid_t *ret_pid, struct hn_err *err) HN_NODISCARD;

#endif
