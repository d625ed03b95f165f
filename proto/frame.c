/* frame.c -- encoding, decoding and blocking transfer of frames.
 *
 * Relies on nothing a peer says: every length is checked against its limit before a byte
 * of memory is taken for it.
 */
#include "proto/frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void put_le(unsigned char *at, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		at[i] = (unsigned char)(v >> (8 * i));
	}
}

static uint64_t get_le(const unsigned char *at, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++) {
		v |= (uint64_t)at[i] << (8 * i);
	}
	return v;
}

static void header_make(const struct hn_frame *f, unsigned char h[HN_FRAME_HEADER_BYTES])
{
	hn_assert(f->json_bytes <= HN_FRAME_MAX_JSON);
	hn_assert(f->blob_bytes <= HN_FRAME_MAX_BLOB);
	put_le(h, (uint64_t)f->json_bytes + f->blob_bytes, 4);
	put_le(h + 4, f->type, 2);
	put_le(h + 6, HN_FRAME_VERSION, 2);
	put_le(h + 8, f->request, 8);
	put_le(h + 16, f->json_bytes, 4);
}

void hn_frame_write(const struct hn_frame *f, struct hn_buf *buf)
{
	unsigned char h[HN_FRAME_HEADER_BYTES];

	header_make(f, h);
	hn_buf_add(buf, h, sizeof h);
	hn_buf_add(buf, f->json, f->json_bytes);
	hn_buf_add(buf, f->blob, f->blob_bytes);
}

/* The header's fields into *ret (pointers NULL); 0 or -HONE_E_CORRUPT. */
static int header_read(const unsigned char *h, struct hn_frame *ret, struct hn_err *err)
{
	uint64_t length = get_le(h, 4);
	uint64_t json_bytes = get_le(h + 16, 4);
	unsigned type = (unsigned)get_le(h + 4, 2);
	unsigned version = (unsigned)get_le(h + 6, 2);

	if (version != HN_FRAME_VERSION) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: version %u, expected %u",
			       version, (unsigned)HN_FRAME_VERSION);
	}
	if (type == HN_FRAME_NONE || type >= HN_N_FRAME) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: unknown type %u", type);
	}
	if (json_bytes > length || json_bytes > HN_FRAME_MAX_JSON ||
	    length - json_bytes > HN_FRAME_MAX_BLOB) {
		return hn_fail(
			err, HONE_E_CORRUPT, "frame: lengths %llu and %llu out of range",
			(unsigned long long)length, (unsigned long long)json_bytes);
	}
	*ret = (struct hn_frame){.type = (uint16_t)type,
				 .request = get_le(h + 8, 8),
				 .json_bytes = (uint32_t)json_bytes,
				 .blob_bytes = (uint32_t)(length - json_bytes)};
	return 0;
}

int64_t hn_frame_read(const void *bytes, size_t n, struct hn_frame *ret, size_t *need,
		      struct hn_err *err)
{
	const char *p = bytes;
	struct hn_frame f;
	size_t total;

	*need = HN_FRAME_HEADER_BYTES;
	if (n < HN_FRAME_HEADER_BYTES) {
		return 0;
	}
	if (header_read(bytes, &f, err) != 0) {
		return -HONE_E_CORRUPT;
	}
	total = (size_t)HN_FRAME_HEADER_BYTES + f.json_bytes + f.blob_bytes;
	*need = total;
	if (n < total) {
		return 0;
	}
	f.json = p + HN_FRAME_HEADER_BYTES;
	f.blob = p + HN_FRAME_HEADER_BYTES + f.json_bytes;
	*ret = f;
	return (int64_t)total;
}

static int send_all(int fd, const void *bytes, size_t n, struct hn_err *err)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k < 0 && errno == ENOTSOCK) {
			k = write(fd, p, n);
		}
		if (k < 0 && errno == EINTR) {
			continue;
		}
		if (k < 0) {
			return hn_fail(err, HONE_E_IO, "frame: write: %s",
				       strerror(errno));
		}
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int hn_frame_send(int fd, const struct hn_frame *f, struct hn_err *err)
{
	unsigned char h[HN_FRAME_HEADER_BYTES];
	int rc;

	header_make(f, h);
	rc = send_all(fd, h, sizeof h, err);
	if (rc == 0) {
		rc = send_all(fd, f->json, f->json_bytes, err);
	}
	return rc == 0 ? send_all(fd, f->blob, f->blob_bytes, err) : rc;
}

/* Bytes read, less than n only at the end of the file; or -HONE_E_IO. */
static int64_t read_all(int fd, void *bytes, size_t n, struct hn_err *err)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = read(fd, (char *)bytes + got, n - got);

		if (k < 0 && errno == EINTR) {
			continue;
		}
		if (k < 0) {
			return hn_fail(err, HONE_E_IO, "frame: read: %s",
				       strerror(errno));
		}
		if (k == 0) {
			break;
		}
		got += (size_t)k;
	}
	return (int64_t)got;
}

/* Append n bytes from fd to buf, in pieces: memory follows what really arrives. */
static int read_onto(int fd, struct hn_buf *buf, size_t n, struct hn_err *err)
{
	char piece[65536];

	while (n > 0) {
		size_t want = n < sizeof piece ? n : sizeof piece;
		int64_t got = read_all(fd, piece, want, err);

		if (got < 0) {
			return (int)got;
		}
		if ((size_t)got < want) {
			return hn_fail(err, HONE_E_CORRUPT,
				       "frame: file ends inside a frame");
		}
		hn_buf_add(buf, piece, want);
		n -= want;
	}
	return 0;
}

int hn_frame_recv(int fd, struct hn_buf *buf, struct hn_frame *ret, struct hn_err *err)
{
	unsigned char h[HN_FRAME_HEADER_BYTES];
	int64_t got = read_all(fd, h, sizeof h, err);
	struct hn_frame f;
	int rc;

	if (got <= 0) {
		return got < 0 ? (int)got : 1;
	}
	if (got < (int64_t)sizeof h) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: file ends inside a header");
	}
	rc = header_read(h, &f, err);
	hn_buf_reset(buf);
	if (rc == 0) {
		rc = read_onto(fd, buf, f.json_bytes, err);
	}
	hn_buf_putc(buf, '\0');
	if (rc == 0) {
		rc = read_onto(fd, buf, f.blob_bytes, err);
	}
	if (rc != 0) {
		return rc;
	}
	if (buf->failed) {
		return hn_fail(err, HONE_E_NOMEM, "frame: no memory for %zu bytes",
			       (size_t)f.json_bytes + f.blob_bytes);
	}
	f.json = buf->s;
	f.blob = buf->s + f.json_bytes + 1;
	*ret = f;
	return 0;
}
