// embed_run.cc -- for embed.sh: two networks with embedded weights in one program of C++, each called
// by four threads at once, with arenas and answers of their own.  With a word, the library of that
// name is opened and closed a thousand times, and a call made each time.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "one/model.h"
#include "three/model.h"

typedef int32_t (*run_fn)(const void *weights, const void *prepared, const void *const *in,
			  void *const *out, void *arena, const struct hone_env *env);

struct net {
	run_fn run;
	const void *weights;
	uint64_t arena_bytes, in_bytes, out_bytes;
};

static void *memory(uint64_t n)
{
	return std::aligned_alloc(64, (n + 64) / 64 * 64);
}

static std::vector<char> call(const net &n, int seed)
{
	void *x = memory(n.in_bytes), *y = memory(n.out_bytes), *arena = memory(n.arena_bytes);
	const void *in[] = { x };
	void *out[] = { y };

	for (uint64_t i = 0; i < n.in_bytes / sizeof(float); i++) {
		static_cast<float *>(x)[i] = static_cast<float>((i * 29 + seed) % 31) / 64;
	}
	std::vector<char> ret;
	if (n.run(n.weights, nullptr, in, out, arena, nullptr) == 0) {
		ret.assign(static_cast<char *>(y), static_cast<char *>(y) + n.out_bytes);
	}
	std::free(x);
	std::free(y);
	std::free(arena);
	return ret;
}

static bool many_agree(const net &n)
{
	std::vector<std::thread> thread;
	bool good[4] = {};

	for (int t = 0; t < 4; t++) {
		thread.emplace_back([&n, &good, t] {
			std::vector<char> first = call(n, t);

			good[t] = !first.empty();
			for (int i = 0; i < 50; i++) {
				good[t] = good[t] && call(n, t) == first;
			}
		});
	}
	for (std::thread &t : thread) {
		t.join();
	}
	return good[0] && good[1] && good[2] && good[3] && call(n, 0) != call(n, 1);
}

#ifdef SHARED
static bool comes_and_goes(const char *path, const net &same)
{
	std::vector<char> want = call(same, 5);

	for (int i = 0; i < 1000; i++) {
		void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		net n = same;

		if (lib == nullptr) {
			std::puts(dlerror());
			return false;
		}
		n.weights = dlsym(lib, "one_weights");
		n.run = reinterpret_cast<run_fn>(dlsym(lib, "one_run"));
		if (n.weights == nullptr || n.run == nullptr || n.weights == same.weights ||
		    call(n, 5) != want) {
			return false;
		}
		dlclose(lib);
	}
	return true;
}
#endif

alignas(64) static const char zeros[64] = {};

int main(int argc, char **argv)
{
	const net one = { one_run, one_weights, one_ARENA_BYTES(1), one_INPUT_0_BYTES,
			  one_OUTPUT_0_BYTES };
	const net three = { three_run, three_weights, three_ARENA_BYTES(1), three_INPUT_0_BYTES,
			    three_OUTPUT_0_BYTES };
	void *arena = memory(one.arena_bytes + three.arena_bytes);
	bool good = one_prepare(one_weights, nullptr, arena, nullptr) == 0 &&
		    three_prepare(three_weights, nullptr, arena, nullptr) == 0 &&
		    one_prepare(zeros, nullptr, arena, nullptr) == HONE_MODEL_WEIGHTS_DIFFER;

	good = good && many_agree(one) && many_agree(three);
#ifdef SHARED
	good = good && comes_and_goes(argv[1], one);
#else
	(void)argc;
	(void)argv;
#endif
	std::free(arena);
	std::puts(good ? "right" : "wrong");
	return good ? 0 : 1;
}
