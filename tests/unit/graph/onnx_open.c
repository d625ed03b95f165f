/* Models in files, and weights in files beside them: what is found, and what a model may not have
 * hone open. */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/onnx/onnx.h"
#include "tests/lib/onnx_writer.h"
#include "tests/lib/open_fds.h"

static char root[] = "/tmp/hone-onnx-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[400];

	snprintf(path, sizeof path, "%s/%s", root, name);
	return path;
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	struct hn_err err = { 0 };

	if (hn_file_replace(path_of(name), bytes, n, &err) != 0) {
		fail_msg("%s", err.msg);
	}
}

static void write_model(const char *name, const char *notation)
{
	struct hn_buf b;

	hn_buf_init(&b);
	put_notation(&b, notation);
	write_file(name, b.s, b.n);
	hn_buf_fini(&b);
}

/* A model whose one tensor, uint8[4], is elsewhere; its bytes, or the error without the folder. */
static int read_from(const char *location, const char *offset, char ret[1100])
{
	struct hn_onnx *o;
	struct hn_err err = { 0 };
	struct hn_onnx_bytes bytes;
	char notation[5000];
	int rc;

	snprintf(notation, sizeof notation,
		 "7{5{8'w' 2:2 1:4 14:1 13{1'location' 2'%s'} 13{1'offset' 2'%s'}}}", location,
		 offset);
	write_model("models/m.onnx", notation);
	assert_int_equal(hn_onnx_open(path_of("models/m.onnx"), &o, &err), 0);
	rc = hn_onnx_tensor_bytes(o, hn_onnx_model(o)->graph->initializer, &bytes, &err);
	if (rc == 0) {
		assert_int_equal(bytes.n, 4);
		snprintf(ret, 1100, "%.4s", (const char *)bytes.at);
	} else {
		const char *after = strstr(err.msg, "m.onnx: ");

		assert_non_null(after);
		snprintf(ret, 1100, "%s", after);
	}
	hn_onnx_close(o);
	return rc;
}

#define W "m.onnx: tensor \"w\": "
#define BELOW                                                                                      \
	": external data lies in the model's folder or below: its location is a relative path "   \
	"without .."

static void external_data_is_below_the_model(void **state)
{
	static const struct {
		const char *location, *offset;
		int code;
		const char *expected;
	} rows[] = {
		{ "w.bin", "0", 0, "abcd" },
		{ "w.bin", "4", 0, "efgh" },
		{ "./w.bin", "4", 0, "efgh" },
		{ "deep/er/w.bin", "1", 0, "2345" },
		{ "w.bin", "5", HONE_E_INVALID,
		  W "w.bin holds 8 bytes, and the tensor is 4 from byte 5 on" },
		{ "w.bin", "18446744073709551615", HONE_E_INVALID,
		  W "w.bin holds 8 bytes, and the tensor is 4 from byte 18446744073709551615 on" },
		{ "empty", "0", HONE_E_INVALID,
		  W "empty holds 0 bytes, and the tensor is 4 from byte 0 on" },
		{ "none", "0", HONE_E_NOT_FOUND, W "none: cannot open: No such file or directory" },
		{ "deep", "0", HONE_E_INVALID, W "deep: no regular file, which could be mapped" },
		{ "pipe", "0", HONE_E_INVALID, W "pipe: no regular file, which could be mapped" },
		{ "", "0", HONE_E_INVALID, W BELOW },
		{ "/etc/passwd", "0", HONE_E_INVALID, W "/etc/passwd" BELOW },
		{ "../secret", "0", HONE_E_INVALID, W "../secret" BELOW },
		{ "deep/../w.bin", "0", HONE_E_INVALID, W "deep/../w.bin" BELOW },
		{ "deep//w.bin", "0", HONE_E_INVALID, W "deep//w.bin" BELOW },
		{ "deep/", "0", HONE_E_INVALID, W "deep/" BELOW },
		{ "link", "0", HONE_E_INVALID,
		  W "link: a symbolic link; put the file itself beside the model" },
		{ "out/secret", "0", HONE_E_INVALID,
		  W "out/secret: a folder on the way is a symbolic link or none" },
		{ "w.bin/x", "0", HONE_E_INVALID,
		  W "w.bin/x: a folder on the way is a symbolic link or none" },
	};
	char got[1100];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		int rc = read_from(rows[i].location, rows[i].offset, got);

		if (rc != -rows[i].code || strcmp(got, rows[i].expected) != 0) {
			fail_msg("%s at %s: %d %s, expected %s", rows[i].location, rows[i].offset,
				 rc, got, rows[i].expected);
		}
	}
}

/* A component longer than a file name may be. */
static void long_locations_are_refused(void **state)
{
	char location[301], got[1100];

	(void)state;
	memset(location, 'x', 300);
	location[300] = '\0';
	assert_int_equal(read_from(location, "0", got), -HONE_E_INVALID);
	assert_non_null(strstr(got, BELOW));
}

/* Each file is mapped once, and all is given back. */
static void files_are_mapped_once(void **state)
{
	char notation[4000] = "7{", *at = notation + 2;
	struct hn_onnx *o;
	struct hn_onnx_bytes bytes[41];
	struct hn_err err = { 0 };
	int n_fd = count_fds();

	(void)state;
	for (int i = 0; i < 40; i++) {
		at += sprintf(at, "5{2:2 1:2 14:1 13{1'location' 2'%s'} 13{1'offset' 2'%d'}} ",
			      i % 2 ? "w.bin" : "deep/er/w.bin", i / 8);
	}
	strcpy(at, "5{2:2 1:1 9#07}}");
	write_model("models/m.onnx", notation);
	assert_int_equal(hn_onnx_open(path_of("models/m.onnx"), &o, &err), 0);
	for (unsigned i = 0; i < 41; i++) {
		const struct hn_onnx_tensor *t = &hn_onnx_model(o)->graph->initializer[i];

		assert_int_equal(hn_onnx_tensor_bytes(o, t, &bytes[i], &err), 0);
	}
	for (unsigned i = 0; i < 40; i++) {
		assert_ptr_equal(bytes[i].at, bytes[i % 2].at + i / 8);
		assert_int_equal(bytes[i].n, 2);
	}
	assert_int_equal(bytes[40].at[0], 7);
	assert_int_equal(count_fds(), n_fd + 1); /* the model's folder */
	hn_onnx_close(o);
	assert_int_equal(count_fds(), n_fd);
}

static void files_are_opened(void **state)
{
	static const struct {
		const char *name;
		int code;
		const char *expected;
	} rows[] = {
		{ "models/none.onnx", HONE_E_NOT_FOUND, "cannot open: No such file or directory" },
		{ "models", HONE_E_INVALID, "a directory, not a file" },
		{ "models/empty", HONE_E_INVALID, "no graph in it: this is no ONNX model" },
		{ "models/w.bin", HONE_E_INVALID,
		  "byte 0: a group (wire type 4), which ONNX has none of: the file is damaged or no "
		  "ONNX model" },
		{ "models/w.bin/x", HONE_E_NOT_FOUND, "cannot open: Not a directory" },
	};
	char expected[1000];
	int n_fd = count_fds();

	(void)state;
	write_file("models/w.bin", "\x0c" "bcdefgh", 8);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_onnx *o = NULL;
		struct hn_err err = { 0 };

		assert_int_equal(hn_onnx_open(path_of(rows[i].name), &o, &err), -rows[i].code);
		snprintf(expected, sizeof expected, "%s: %s", path_of(rows[i].name),
			 rows[i].expected);
		assert_string_equal(err.msg, expected);
		assert_null(o);
	}
	assert_int_equal(count_fds(), n_fd);
}

/* The file may be replaced; what is read stays the one that was opened. */
static void a_file_may_be_replaced(void **state)
{
	struct hn_onnx *o;
	struct hn_err err = { 0 };
	char here[400];

	(void)state;
	write_model("models/m.onnx", "7{2'old' 5{2:2 1:3 9'old'}}");
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(path_of("models")), 0);
	assert_int_equal(hn_onnx_open("m.onnx", &o, &err), 0);
	assert_int_equal(chdir(here), 0);
	write_model("models/m.onnx", "7{2'new' 5{2:2 1:3 9'new'}}");
	assert_true(hn_onnx_bytes_are(hn_onnx_model(o)->graph->initializer->raw_data, "old"));
	assert_false(hn_onnx_bytes_are(hn_onnx_model(o)->graph->initializer->raw_data, "older"));
	assert_false(hn_onnx_bytes_are(hn_onnx_model(o)->graph->initializer->raw_data, "ol"));
	hn_onnx_close(o);
}

static void what_was_parsed_has_no_folder(void **state)
{
	struct hn_onnx *o;
	struct hn_err err = { 0 };
	struct hn_onnx_bytes bytes;
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	put_notation(&b, "7{5{8'w' 2:2 1:4 14:1 13{1'location' 2'w.bin'}}}");
	assert_int_equal(hn_onnx_parse("m", b.s, b.n, &o, &err), 0);
	assert_int_equal(
		hn_onnx_tensor_bytes(o, hn_onnx_model(o)->graph->initializer, &bytes, &err),
		-HONE_E_INVALID);
	assert_string_equal(err.msg, "m: tensor \"w\": external data, and no folder to look in");
	hn_onnx_close(o);
	hn_buf_fini(&b);
}

static int set_up(void **state)
{
	struct hn_err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(hn_file_mkdirs(path_of("models/deep/er"), 0700, &err), 0);
	write_file("secret", "secret", 6);
	write_file("models/w.bin", "abcdefgh", 8);
	write_file("models/empty", "", 0);
	write_file("models/deep/er/w.bin", "123456789", 9);
	assert_int_equal(symlink("../secret", path_of("models/link")), 0);
	assert_int_equal(symlink("..", path_of("models/out")), 0);
	return mkfifo(path_of("models/pipe"), 0600);
}

static int remove_visited(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(root, remove_visited, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(external_data_is_below_the_model),
		cmocka_unit_test(long_locations_are_refused),
		cmocka_unit_test(files_are_mapped_once),
		cmocka_unit_test(a_file_may_be_replaced),
		cmocka_unit_test(what_was_parsed_has_no_folder),
		cmocka_unit_test(files_are_opened),
	};

	return cmocka_run_group_tests_name("onnx open", tests, set_up, tear_down);
}
