/* A kernel's C source, compiled by the compiler of this build as a user would, and loaded. */
#ifndef HN_TESTS_LOWER_C_H
#define HN_TESTS_LOWER_C_H

#include <dlfcn.h>
#include <unistd.h>

#include "base/file.h"
#include "lower/c/c.h"
#include "tests/lib/lower_run.h"

struct c_kernel {
	void *library;
	run_fn fn;
	int32_t (*prepare)(void *const *args, void *prepared, const struct hone_env *env);
	int32_t (*sized)(const int64_t *sizes, void *const *args, const struct hone_env *env);
};

static inline void c_write(const char *dir, const char *name, const struct hn_buf *text)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(hn_file_replace(path, text->s, text->n, NULL), 0);
}

/* Compile k.c in the folder; without a warning. */
static inline void c_compile(const char *dir, const char *flags, const char *text)
{
	char command[1000];

	snprintf(command, sizeof(command),
		 "'" HONE_CC "' -std=c11 %s -Wall -Wextra -Werror -shared -fPIC -I'%s' "
		 "-I'" HONE_SOURCE_DIR "/include' '%s/k.c' -o '%s/k.so' -lm 2>&1",
		 flags, dir, dir, dir);
	if (system(command) != 0) {
		fail_msg("no C: %s\n%s", command, text);
	}
}

/* The tree's source as a library.  Fails the test where there is none, or a compiler complains. */
static inline void c_build(const struct hn_looptree *t, const struct hn_artefact *made,
			   const char *flags, struct c_kernel *ret)
{
	char dir[] = "/tmp/hone-c-XXXXXX", path[300];
	struct hn_buf text, header;
	struct hn_err err = { 0 };
	struct hn_target target;
	struct hn_arena a;

	hn_buf_init(&text);
	hn_buf_init(&header);
	assert_non_null(mkdtemp(dir));
	hn_arena_init(&a, 0);
	hn_target_host(&a, &target);
	if (hn_c_source(t, &target, "k", made, &text, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_emit_header(t->state->root_dag, "k", made, &header);
	c_write(dir, "k.c", &text);
	c_write(dir, "k.h", &header);
	c_compile(dir, flags, text.s);
	snprintf(path, sizeof(path), "%s/k.so", dir);
	ret->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (ret->library == NULL) {
		fail_msg("%s", dlerror());
	}
	*(void **)&ret->fn = dlsym(ret->library, "k_packed");
	*(void **)&ret->sized = dlsym(ret->library, "k_packed");
	*(void **)&ret->prepare = dlsym(ret->library, "k_prepare_packed");
	hn_file_remove_tree(dir);
	hn_arena_fini(&a);
	hn_buf_fini(&text);
	hn_buf_fini(&header);
}

static inline void c_unload(struct c_kernel *k)
{
	dlclose(k->library);
}

#endif
