# Sizes that are parameters: one kernel for all of them, with the steps that are given.
$ printf 'mm(N in [1, 100], K in [1, 64], float32 A[N,K], float32 B[K,48]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ echo '[["SP", 2, 0, 100, [4], 1], ["SP", 2, 2, 48, [16], 1], ["RE", 2, [0, 2, 4, 1, 3]], ["AN", 2, 3, 2], ["AN", 2, 0, 3]]' > steps
$ hone replay mm.txt --record steps -o k && grep -c int64_t k/mm.h
k/mm.o
k/mm.h
k/mm.json
k/hone/kernel.h
k/hone/pool.h
k/hone_pool.o
3
# Sizes come first; 7 x 3 times 3 x 48 ones, and a size out of its range.
$ printf '#include "mm.h"\n#include <stdio.h>\nint main(void) { static float a[21], b[144], c[336]; int ok = 1; for (int i = 0; i < 144; i++) { a[i %% 21] = b[i] = 1; } int rc = mm(7, 3, a, b, c, 0), out = mm(101, 3, a, b, c, 0); for (int i = 0; i < 336; i++) { ok &= c[i] == 3; } printf("%%d %%d %%d\\n", rc, ok, out); return 0; }' > m.c && cc -Ik m.c k/mm.o -lm -o m && ./m
0 1 -2
# Stored schedules, and those made by rule, are for numbers.
$ hone replay mm.txt -o k
hone: mm.txt: its sizes are parameters (N, ...), which only hone replay --record and hone-build take: write numbers in their place
[18]
$ hone dag mm.txt
mm
  key    5c74f64a6a600cfa7858a31b8cac635710f446414d65dfd9b4a237a83d2b16dd
  FLOPs  614400
  bytes  57088 in arguments, 0 between
  sizes  parameters; the figures are of the largest
  stage  A            placeholder float32[100,64]
  stage  B            placeholder float32[64,48]
  stage  C            compute     float32[100,48]

mm(N in [1, 100], K in [1, 64], float32 A[N,K], B[K,48]) -> C {
	C(i,j) +=! A(i, k) * B(k, j)
}

Placeholder: A, B
for i (0,100)
  for j (0,48)
    for k (0,64)
      C = ...
