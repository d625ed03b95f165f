/* kernel.c -- asks the store for a schedule, makes its kernel, and calls it: C = A * B.
 *
 *     hone tune --text 'mm(float32 A[16,16], float32 B[16,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' --trials 8
 *     cc kernel.c $(pkg-config --cflags --libs hone) -o kernel
 *     ./kernel FOLDER_OF_PROGRAMS
 */
#include <stdio.h>

#include <hone/load.h>

enum { N = 16 };

static const char mm[] =
	"mm(float32 A[16,16], float32 B[16,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) }";
static float a[N * N], b[N * N], c[N * N];
static int64_t shape[] = { N, N };

static struct hone_tensor matrix(float *data)
{
	struct hone_tensor t = { 0 };

	t.data = data;
	t.device_type = 1; /* the CPU */
	t.ndim = 2;
	t.code = 2; /* float */
	t.bits = 32;
	t.lanes = 1;
	t.shape = shape;
	return t;
}

int main(int argc, char **argv)
{
	struct hone_tensor ta = matrix(a), tb = matrix(b), tc = matrix(c);
	const struct hone_tensor *args[3];
	struct hone_build how = { 0 };
	struct hone_kernel *kernel;
	struct hone_error error;
	int i;

	for (i = 0; i < N * N; i++) {
		a[i] = (float)(i % 7);
		b[i] = i / N == i % N ? 2.0f : 0.0f; /* twice the identity */
	}
	args[0] = &ta;
	args[1] = &tb;
	args[2] = &tc;
	how.programs = argc > 1 ? argv[1] : NULL;
	if (hone_kernel_build(mm, &how, &kernel, &error) != 0) {
		fprintf(stderr, "kernel: %s\n", error.text);
		return 1;
	}
	if (hone_kernel_call_dlpack(kernel, args, 3, NULL, &error) != 0) {
		fprintf(stderr, "kernel: %s\n", error.text);
		hone_kernel_close(kernel);
		return 1;
	}
	hone_kernel_close(kernel);
	for (i = 0; i < N * N; i++) {
		if (c[i] != 2 * a[i]) {
			fprintf(stderr, "kernel: element %d is %g, not %g\n", i, c[i], 2 * a[i]);
			return 1;
		}
	}
	printf("right\n");
	return 0;
}
