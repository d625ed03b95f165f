/* board_main.c -- hone-board: measures on one device, for honed.
 *
 *     hone-board [TARGET [INDEX [INCARNATION]]]
 *     hone-board --check FILE
 *     hone-board --network FILE
 *     hone-board --prepare MODEL WEIGHTS OBJECTS OUT
 *
 * Frames on standard input and output (docs/frames.md); INDEX and INCARNATION are those
 * of struct hn_board_place.  The other forms are for `hone`.  They answer with one line of JSON: the
 * second runs the cases of a file that hone-build wrote (check.h), the third whole networks in turn
 * (network.h).  The fourth makes the prepared blocks of a compiled network (prepare.h).
 *
 * Small on purpose: no LLVM, no threads, little memory, so that a fork is cheap and safe.
 * It ends with its parent, or when a frame makes no sense.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "measure/board/board.h"
#include "measure/board/check.h"
#include "measure/board/child.h"
#include "measure/board/network.h"
#include "measure/board/prepare.h"
#include "measure/board/tiles.h"

static int greet(const char *target, struct hn_err *err)
{
	struct hn_frame f;
	struct hn_buf json;
	int rc;

	hn_buf_init(&json);
	hn_frame_encode_hello(&(struct hn_frame_hello){ .worker = "hone-board",
							.version = HONE_VERSION,
							.target = target },
			      &json);
	f = hn_frame_of(HN_FRAME_HELLO, 0, &json);
	rc = hn_frame_send(STDOUT_FILENO, &f, err);
	hn_buf_fini(&json);
	return rc;
}

static int serve_all(const struct hn_board_ops *ops, void *board, struct hn_err *err)
{
	struct hn_buf in, json;
	int rc;

	hn_buf_init(&in);
	hn_buf_init(&json);
	for (;;) {
		struct hn_frame f, reply;
		uint16_t type;

		rc = hn_frame_recv(STDIN_FILENO, &in, &f, err);
		if (rc != 0) {
			break;
		}
		hn_buf_reset(&json);
		rc = hn_board_serve(ops, board, &f, &type, &json, err);
		if (rc != 0) {
			break;
		}
		reply = hn_frame_of(type, f.request, &json);
		rc = hn_frame_send(STDOUT_FILENO, &reply, err);
		if (rc != 0) {
			break;
		}
	}
	hn_buf_fini(&json);
	hn_buf_fini(&in);
	return rc > 0 ? 0 : rc; /* 1: honed closed the connection */
}

static const struct {
	const char *word;
	int (*run)(const char *path, struct hn_buf *json, struct hn_err *err);
} asked[] = { { "--check", hn_check_run },
	      { "--network", hn_network_run },
	      { "--devices", hn_board_devices } };

/* One line of JSON on standard output. */
static int answer(size_t form, const char *path)
{
	struct hn_err err = {0};
	struct hn_buf json;
	int rc;

	hn_buf_init(&json);
	rc = asked[form].run(path, &json, &err);
	if (rc == 0) {
		puts(json.s);
	} else {
		fprintf(stderr, "hone-board: %s\n", err.msg);
	}
	hn_buf_fini(&json);
	return rc != 0 ? 10 - rc : 0;
}

static int prepare(char **files)
{
	struct hn_err err = { 0 };
	int rc = hn_prepare_run(files[0], files[1], files[2], files[3], &err);

	if (rc != 0) {
		fprintf(stderr, "hone-board: %s\n", err.msg);
	}
	return rc != 0 ? 10 - rc : 0;
}

/* Before the first fork: children have what their parent has.  Kernels that use none run without. */
static void ask_for_tiles(void)
{
	char why[200];

	if (hn_tiles_ask(NULL, why, sizeof why) == HN_TILES_REFUSED) {
		fprintf(stderr, "hone-board: %s\n", why);
	}
}

int main(int argc, char **argv)
{
	struct hn_board_place at = {
		.target = argc > 1 ? argv[1] : "cpu",
		.index = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0,
		.incarnation = argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
	};
	const struct hn_board_ops *ops = hn_board_of(at.target);
	struct hn_err err = {0};
	void *board = NULL;
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	/* Ctrl-C is honed's to answer */
	signal(SIGINT, SIG_IGN);
	hn_child_adopt_orphans();
	ask_for_tiles();
	for (size_t i = 0; argc == 3 && i < HN_COUNT_OF(asked); i++) {
		if (strcmp(at.target, asked[i].word) == 0) {
			return answer(i, argv[2]);
		}
	}
	if (argc == 6 && strcmp(at.target, "--prepare") == 0) {
		return prepare(argv + 2);
	}
	if (ops == NULL) {
		fprintf(stderr, "hone-board: no driver for target \"%.100s\"\n",
			at.target);
		return 10 + HONE_E_NO_BOARD;
	}
	rc = ops->open(&at, &board, &err);
	if (rc == 0) {
		rc = greet(at.target, &err);
		rc = rc != 0 ? rc : serve_all(ops, board, &err);
		ops->close(board);
	}
	if (rc != 0) {
		fprintf(stderr, "hone-board: %s\n",
			err.msg[0] != 0 ? err.msg : "the board is lost");
	}
	return rc != 0 ? 10 - rc : 0;
}
