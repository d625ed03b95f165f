/* The object of a compiled network: for this machine and for another, twice the same bytes, with
 * the names that a program calls.  Whether it runs is tests/e2e/network.sh's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "lower/lower.h"
#include "tests/lib/model_small.h"

static int emit_with(const char *line, const struct hn_model *m, const char *weights,
		     struct hn_arena *a, struct hn_artefact *ret, struct hn_err *err)
{
	struct hn_emitter *e;
	struct hn_target target;

	assert_int_equal(hn_target_parse(line, a, &target, err), 0);
	assert_int_equal(hn_emitter_new(&target, &e, err), 0);
	int rc = hn_emit_model(e, m, weights, a, ret, err);

	hn_emitter_free(e);
	return rc;
}

static int emit(const char *line, const struct hn_model *m, struct hn_arena *a,
		struct hn_artefact *ret, struct hn_err *err)
{
	return emit_with(line, m, NULL, a, ret, err);
}

/* Whether the object defines the symbol, or wants it. */
static bool has_symbol(const struct hn_artefact *o, const char *name, bool defined)
{
	const unsigned char *bytes = o->object;
	const Elf64_Ehdr *h = o->object;
	const Elf64_Shdr *s = (const void *)(bytes + h->e_shoff);
	bool found = false;

	for (unsigned i = 0; i < h->e_shnum; i++) {
		const Elf64_Sym *sym = (const void *)(bytes + s[i].sh_offset);
		const char *text = (const char *)bytes + s[s[i].sh_link].sh_offset;

		for (size_t k = 0;
		     s[i].sh_type == SHT_SYMTAB && k < s[i].sh_size / sizeof *sym; k++) {
			found = found || (strcmp(text + sym[k].st_name, name) == 0 &&
					  (sym[k].st_shndx != SHN_UNDEF) == defined);
		}
	}
	return found;
}

static void objects_are_made(void **state)
{
	static const struct {
		const char *line;
		int machine;
	} rows[] = { { "native", EM_X86_64 },
		     { "cpu -isa=aarch64-neon -num_cores=4", EM_AARCH64 } };
	static const char *const ours[] = { "small_model", "small_run", "small_run_timed",
					    "small_prepare", "small_arena_bytes" };
	static const char *const theirs[] = { "small_k0_packed",
					      "small_k0_prepare_packed",
					      "small_k1_packed", "hone_model_run_4" };
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	ms_make(&s, MS_ALL);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_artefact made, again;
		struct hn_err err = { 0 };

		assert_int_equal(emit(rows[i].line, &s.m, &a, &made, &err), 0);
		assert_int_equal(emit(rows[i].line, &s.m, &a, &again, &err), 0);
		assert_int_equal(made.object_bytes, again.object_bytes);
		assert_memory_equal(made.object, again.object, made.object_bytes);
		assert_int_equal(((const Elf64_Ehdr *)made.object)->e_machine,
				 rows[i].machine);
		for (size_t k = 0; k < HN_COUNT_OF(ours); k++) {
			assert_true(has_symbol(&made, ours[k], true));
		}
		for (size_t k = 0; k < HN_COUNT_OF(theirs); k++) {
			assert_true(has_symbol(&made, theirs[k], false));
		}
		assert_false(has_symbol(&made, "small_k1_prepare_packed", false));
		assert_false(has_symbol(&made, "small_k0_init", false));
	}
	hn_arena_fini(&a);
}

/* A network for a GPU has its code in the object, and wants no kernel but another run time. */
static void a_gpu_has_code_and_no_functions(void **state)
{
	static const char *const ours[] = { "small_model",   "small_run",   "small_run_timed",
					    "small_prepare", "small_error", "small_release" };
	static const struct hn_gpu_buffer buffer[] = { { MS_ALL, 0 }, { MS_ALL, 1 }, { 100, -1 } };
	static const uint32_t arg[] = { 0, 2, 1 };
	static const struct hn_gpu_kernel kernel[] = {
		{ .name = "k0", .grid = { 7, 1, 1 }, .block = { 32, 1, 1 }, .n_arg = 3, .arg = arg }
	};
	const struct hn_gpu_module one = { .form = HN_GPU_PTX, .isa = "sm_80", .n_buffer = 3, .buffer = buffer,
					   .n_kernel = 1, .kernel = kernel, .code = "mock code", .code_bytes = 9 };
	const struct hn_gpu_module *const module[] = { &one, &one };
	struct hn_artefact made, again;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	ms_make(&s, 0);
	s.m.module = module;
	assert_int_equal(emit("native", &s.m, &a, &made, &err), 0);
	assert_int_equal(emit("native", &s.m, &a, &again, &err), 0);
	assert_int_equal(made.object_bytes, again.object_bytes);
	assert_memory_equal(made.object, again.object, made.object_bytes);
	for (size_t k = 0; k < HN_COUNT_OF(ours); k++) {
		assert_true(has_symbol(&made, ours[k], true));
	}
	assert_true(has_symbol(&made, "hone_gpu_run_3", false));
	assert_true(has_symbol(&made, "hone_gpu_release_3", false));
	assert_false(has_symbol(&made, "hone_model_run_4", false));
	assert_false(has_symbol(&made, "small_k0_packed", false));
	assert_non_null(memmem(made.object, made.object_bytes, "mock code", 10));
	hn_arena_fini(&a);
}

/* Of a program that is linked with the object. */
static int status_of(const char *program, const struct hn_artefact *made)
{
	char folder[] = "/tmp/hone-table-XXXXXX", path[60], command[400];
	struct hn_err err = { 0 };
	int status;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/net.o", folder);
	assert_int_equal(hn_file_replace(path, made->object, made->object_bytes, &err), 0);
	snprintf(path, sizeof path, "%s/main.c", folder);
	assert_int_equal(hn_file_replace(path, program, strlen(program), &err), 0);
	snprintf(command, sizeof command,
		 HONE_CC " -I" HONE_SOURCE_DIR " -I" HONE_SOURCE_DIR "/include %s/main.c %s/net.o "
		 "-static -Wl,--unresolved-symbols=ignore-all -o %s/main && %s/main",
		 folder, folder, folder, folder);
	status = system(command);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	return status;
}

/* The maps of a kernel, as a program that is linked with the object reads them: the dimension whose
 * elements lie side by side comes first. */
static void maps_of_a_gpu_are_in_the_table(void **state)
{
	static const char program[] =
		"#include \"proto/gpu_table.h\"\n"
		"extern const struct hone_gpu small_gpu;\n"
		"int main(void)\n{\n"
		"	const struct hone_gpu_launch *l = small_gpu.codes[0].launches;\n"
		"	const struct hone_gpu_map *m = l->maps + 1;\n\n"
		"	return !(l->n_args == 1 && l->n_maps == 2 && l->maps[0].of.arg == 1 &&\n"
		"		 m->of.arg == -1 && m->of.offset == 256 && m->elem == 2 && m->swizzle == 64 &&\n"
		"		 m->n_dims == 3 && m->size[0] == 32 && m->size[1] == 8 && m->size[2] == 5 &&\n"
		"		 m->stride[0] == 64 && m->stride[1] == 512 && m->box[0] == 16 &&\n"
		"		 m->box[1] == 8 && m->box[2] == 1);\n}\n";
	static const struct hn_gpu_buffer buffer[] = { { MS_ALL, 1 }, { 100, -1 }, { 2560, -1 } };
	static const struct hn_gpu_map map[] = {
		{ .buffer = 0, .elem = 4, .n_dim = 2, .size = { 64, 64 }, .stride = { 256, 4 }, .box = { 8, 8 } },
		{ .buffer = 2, .elem = 2, .n_dim = 3, .size = { 5, 8, 32 }, .stride = { 512, 64, 2 },
		  .box = { 1, 8, 16 }, .swizzle = 64 },
	};
	static const uint32_t number[] = { 0, 1 };
	static const struct hn_gpu_kernel kernel[] = {
		{ .name = "k0", .grid = { 7, 1, 1 }, .block = { 32, 1, 1 }, .n_arg = 1, .arg = number, .n_map = 2,
		  .map = number }
	};
	const struct hn_gpu_module one = { .form = HN_GPU_PTX, .isa = "sm_90a", .n_buffer = 3, .buffer = buffer,
					   .n_map = 2, .map = map, .n_kernel = 1, .kernel = kernel,
					   .code = "mock code", .code_bytes = 9 };
	const struct hn_gpu_module *const module[] = { &one, &one };
	struct hn_artefact made;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	ms_make(&s, 0);
	s.m.module = module;
	assert_int_equal(emit("native", &s.m, &a, &made, &err), 0);
	assert_int_equal(status_of(program, &made), 0);
	hn_arena_fini(&a);
}

/* A range's copies are what its steps read of inputs, and write of outputs. */
static void copies_of_a_range_are_in_the_table(void **state)
{
	static const char program[] =
		"#include \"proto/gpu_table.h\"\n"
		"extern const struct hone_gpu small_gpu;\n"
		"int main(void)\n{\n"
		"	const struct hone_gpu_range *r = small_gpu.ranges;\n\n"
		"	return !(r[0].in_bytes[0] == 16384 && r[0].out_bytes[0] == 0 &&\n"
		"		 r[1].in_bytes[0] == 8256 && r[1].out_bytes[0] == 8192);\n}\n";
	static const struct hn_gpu_kernel kernel[] = {
		{ .name = "k0", .grid = { 7, 1, 1 }, .block = { 32, 1, 1 } }
	};
	const struct hn_gpu_module one = { .form = HN_GPU_PTX, .isa = "sm_80", .n_kernel = 1, .kernel = kernel,
					   .code = "mock code", .code_bytes = 9 };
	const struct hn_gpu_module *const module[] = { &one, &one };
	static const int64_t large[] = { 64 }, small[] = { 32 };
	static const struct hn_model_size size[] = { { "rows", 32, 64, 32 } };
	static const struct hn_model_range range[] = { { large, large, 0, 1 }, { small, small, 1, 1 } };
	struct hn_artefact made;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	ms_make(&s, 0);
	s.relu_bytes[0] = s.relu_bytes[1] = MS_ALL / 2;
	s.arg[1][0] = ms_at(HONE_MODEL_INPUT, 64);
	s.arg[1][1] = ms_at(HONE_MODEL_OUTPUT, 0);
	s.m.n_size = 1;
	s.m.size = size;
	s.m.n_range = 2;
	s.m.range = range;
	s.m.module = module;
	assert_int_equal(hn_model_check(&s.m, &err), 0);
	assert_int_equal(emit("native", &s.m, &a, &made, &err), 0);
	assert_int_equal(status_of(program, &made), 0);
	hn_arena_fini(&a);
}

/* Weights in the object: on a page of their own, byte by byte. */
static void weights_are_embedded(void **state)
{
	static const char *const line[] = { "native", "cpu -isa=aarch64-neon -num_cores=4" };
	char path[] = "/tmp/hone-embed-XXXXXX", bytes[5000];
	int fd = mkstemp(path);
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < sizeof bytes; i++) {
		bytes[i] = (char)(i * 31 + i / 256);
	}
	assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
	close(fd);
	ms_make(&s, MS_ALL);
	s.m.weights_bytes = sizeof bytes;
	for (size_t i = 0; i < HN_COUNT_OF(line); i++) {
		struct hn_artefact made;
		struct hn_err err = { 0 };

		if (emit_with(line[i], &s.m, path, &a, &made, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		assert_true(has_symbol(&made, "small_weights", true));
		const Elf64_Ehdr *h = made.object;
		const Elf64_Shdr *sec = (const void *)((const char *)made.object + h->e_shoff);
		bool found = false;

		for (int k = 0; k < h->e_shnum; k++) {
			found = found ||
				(sec[k].sh_size == sizeof bytes && sec[k].sh_addralign == 4096 &&
				 sec[k].sh_flags == SHF_ALLOC &&
				 memcmp((const char *)made.object + sec[k].sh_offset, bytes,
					sizeof bytes) == 0);
		}
		assert_true(found);
		assert_int_equal(emit_with(line[i], &s.m, "a\"b", &a, &made, &err),
				 -HONE_E_INVALID);
	}
	assert_int_equal(unlink(path), 0);
	hn_arena_fini(&a);
}

static void devices_have_none(void **state)
{
	struct hn_artefact made;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	ms_make(&s, MS_ALL);
	assert_int_equal(emit("cuda", &s.m, &a, &made, &err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "no objects"));
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_made),
		cmocka_unit_test(a_gpu_has_code_and_no_functions),
		cmocka_unit_test(maps_of_a_gpu_are_in_the_table),
		cmocka_unit_test(copies_of_a_range_are_in_the_table),
		cmocka_unit_test(weights_are_embedded),
		cmocka_unit_test(devices_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
