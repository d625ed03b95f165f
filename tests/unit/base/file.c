/* Whole files: limits, refusals in words, and replacement that leaves nothing half-done.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

static int make_dir(void **state)
{
	*state = strdup("/tmp/hone-file-XXXXXX");
	return mkdtemp(*state) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	free(*state);
	return system(command);
}

static int count_files(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	for (struct dirent *e = readdir(d); e; e = readdir(d)) {
		n += e->d_name[0] != '.';
	}
	closedir(d);
	return n;
}

static void replaced_files_read_back(void **state)
{
	struct hn_err err = {0};
	struct hn_buf b;
	char path[100];
	struct stat st;

	snprintf(path, sizeof(path), "%s/a b", (char *)*state);
	hn_buf_init(&b);
	assert_int_equal(hn_file_replace(path, "one", 3, &err), 0);
	assert_int_equal(hn_file_replace(path, "zwei\0!", 6, &err), 0);
	assert_int_equal(hn_file_read(path, 6, &b, &err), 0);
	assert_int_equal(b.n, 6);
	assert_memory_equal(b.s, "zwei\0!", 6);
	assert_int_equal(count_files(*state), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0600, 0600);
	hn_buf_fini(&b);
}

static void refusals_name_the_path(void **state)
{
	struct hn_err err = {0};
	struct hn_buf b;
	char path[100], line[300];

	hn_buf_init(&b);
	snprintf(path, sizeof(path), "%s/f", (char *)*state);
	assert_int_equal(hn_file_read(path, 10, &b, &err), -HONE_E_NOT_FOUND);
	snprintf(line, sizeof(line), "%s: cannot open: No such file or directory", path);
	assert_string_equal(err.msg, line);
	assert_int_equal(hn_file_replace(path, "12345", 5, &err), 0);
	assert_int_equal(hn_file_read(path, 4, &b, &err), -HONE_E_QUOTA);
	assert_int_equal(hn_file_read(*state, 4, &b, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "a directory"));
	assert_int_equal(hn_file_read("/dev/zero", 4, &b, &err), -HONE_E_INVALID);
	snprintf(path, sizeof(path), "%s/none/f", (char *)*state);
	assert_int_equal(hn_file_replace(path, "1", 1, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(hn_file_replace("/proc/hone", "1", 1, &err), -HONE_E_NOT_FOUND);
	hn_buf_fini(&b);
}

static void a_failed_rename_leaves_no_temporary(void **state)
{
	struct hn_err err = {0};
	char path[100];

	/* A directory in the way makes the rename fail after the temporary was written.
	 */
	snprintf(path, sizeof(path), "%s/dir", (char *)*state);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(hn_file_replace(path, "1", 1, &err) < 0);
	assert_int_equal(count_files(*state), 1);
}

static void pipes_are_read(void **state)
{
	struct hn_err err = {0};
	struct hn_buf b;
	char path[100];
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], "hello", 5), 5);
	close(fd[1]);
	hn_buf_init(&b);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	assert_int_equal(hn_file_read(path, 5, &b, &err), 0);
	assert_string_equal(b.s, "hello");
	close(fd[0]);
	hn_buf_fini(&b);
}

static void directories_are_made(void **state)
{
	struct hn_err err = {0};
	char path[100];
	struct stat st;

	snprintf(path, sizeof(path), "%s/a//b/c/", (char *)*state);
	assert_int_equal(hn_file_mkdirs(path, 0700, &err), 0);
	assert_int_equal(hn_file_mkdirs(path, 0700, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	snprintf(path, sizeof(path), "%s/f", (char *)*state);
	assert_int_equal(hn_file_replace(path, "1", 1, &err), 0);
	snprintf(path, sizeof(path), "%s/f/g", (char *)*state);
	assert_int_equal(hn_file_mkdirs(path, 0700, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(hn_file_mkdirs("", 0700, &err), -HONE_E_INVALID);
}

static void put(const char *dir, const char *name)
{
	char path[100];
	struct hn_err err = { 0 };

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(hn_file_replace(path, "1", 1, &err), 0);
}

static void a_tree_is_removed_and_no_link_followed(void **state)
{
	char tree[100], link[100];
	struct hn_err err = { 0 };
	struct stat st;

	snprintf(tree, sizeof(tree), "%s/tree/a/b", (char *)*state);
	assert_int_equal(hn_file_mkdirs(tree, 0700, &err), 0);
	put(*state, "kept");
	put(*state, "tree/f");
	put(*state, "tree/a/b/f");
	snprintf(link, sizeof(link), "%s/tree/a/link", (char *)*state);
	assert_int_equal(symlink(*state, link), 0);
	snprintf(tree, sizeof(tree), "%s/tree", (char *)*state);
	hn_file_remove_tree(tree);
	assert_int_not_equal(lstat(tree, &st), 0);
	assert_int_equal(count_files(*state), 1); /* what was beside it */
	hn_file_remove_tree(tree); /* it is not there: nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(replaced_files_read_back, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(refusals_name_the_path, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(a_failed_rename_leaves_no_temporary,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(pipes_are_read, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(directories_are_made, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(a_tree_is_removed_and_no_link_followed, make_dir,
						remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
