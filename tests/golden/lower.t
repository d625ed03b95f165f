# What a history becomes: the loop tree that is emitted, with real indices, guards and buffers.
$ echo 'mm(float32 A[24,16], float32 B[16,20]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt; echo 'st(float32 A[18,18], float32 W[3,3]) -> C { B(y,x) = A(y,x) * 2.0 C(y,x) +=! B(y+r,x+s) * W(r,s) }' > st.txt
$ echo '[]' | hone-build --dag mm.txt --steps - --emit-tree
arg A [24, 16]
arg B [16, 20]
arg C [24, 20]
for i#0 (24)
  for j#1 (20)
    C[i#0, j#1] = 0
    for k#2 (16)
      C[i#0, j#1] += A[i#0, k#2] * B[k#2, j#1]
# Tiles that do not divide have guards; a fused loop is taken apart again.
$ echo '[["SP", 2, 0, 24, [2, 3], 1], ["SP", 2, 3, 20, [2, 4], 1], ["SP", 2, 6, 16, [5], 1], ["RE", 2, [0, 3, 1, 4, 6, 2, 7, 5]], ["FU", 2, [0, 1]], ["AN", 2, 0, 3], ["AN", 2, 6, 2]]' | hone-build --dag mm.txt --steps - --emit-tree
arg A [24, 16]
arg B [16, 20]
arg C [24, 20]
parallel i.0@j.0@#0 (12)
  for i.1#1 (2)
    for j.1#2 (2)
      for i.2#7 (3)
        vectorize j.2#8 (4)
          if j.1#2 * 4 + j.2#8 + floormod(i.0@j.0@#0, 3) * 8 < 20
            C[i.1#1 * 3 + i.2#7 + floordiv(i.0@j.0@#0, 3) * 6, j.1#2 * 4 + j.2#8 + floormod(i.0@j.0@#0, 3) * 8] = 0
      for k.0#3 (4)
        for i.2#4 (3)
          for k.1#5 (5)
            vectorize j.2#6 (4)
              if k.0#3 * 5 + k.1#5 < 16
                if j.1#2 * 4 + j.2#6 + floormod(i.0@j.0@#0, 3) * 8 < 20
                  C[i.1#1 * 3 + i.2#4 + floordiv(i.0@j.0@#0, 3) * 6, j.1#2 * 4 + j.2#6 + floormod(i.0@j.0@#0, 3) * 8] += A[i.1#1 * 3 + i.2#4 + floordiv(i.0@j.0@#0, 3) * 6, k.0#3 * 5 + k.1#5] * B[k.0#3 * 5 + k.1#5, j.1#2 * 4 + j.2#6 + floormod(i.0@j.0@#0, 3) * 8]
# A producer computed inside its consumer's tile: a local buffer with a halo.
$ echo '[["SP", 3, 0, 16, [5], 1], ["SP", 3, 2, 16, [4], 1], ["RE", 3, [0, 2, 1, 3, 4, 5]], ["CA", 2, 3, 1]]' | hone-build --dag st.txt --steps - --emit-tree
arg A [18, 18]
arg W [3, 3]
arg C [16, 16]
for y.0#2 (4)
  for x.0#3 (4)
    local B [7, 6] from [y.0#2 * 5, x.0#3 * 4]
    for y#0 (7)
      for x#1 (6)
        if y#0 + y.0#2 * 5 < 18
          B[y#0 + y.0#2 * 5, x#1 + x.0#3 * 4] = A[y#0 + y.0#2 * 5, x#1 + x.0#3 * 4] * 2
    for y.1#4 (5)
      for x.1#5 (4)
        if y.0#2 * 5 + y.1#4 < 16
          C[y.0#2 * 5 + y.1#4, x.0#3 * 4 + x.1#5] = 0
        for r#6 (3)
          for s#7 (3)
            if y.0#2 * 5 + y.1#4 < 16
              C[y.0#2 * 5 + y.1#4, x.0#3 * 4 + x.1#5] += B[y.0#2 * 5 + y.1#4 + r#6, x.0#3 * 4 + x.1#5 + s#7] * W[r#6, s#7]
# The polyhedral model of the plain program.
$ echo '[]' | hone-build --dag st.txt --steps - --emit-poly
S0 B compute
  domain { S0[l0_0, l1_0] : 0 <= l0_0 <= 17 and 0 <= l1_0 <= 17 }
  order 1 1 l0 1 l1 1
  write B { S0[l0_0, l1_0] -> T2[l0_0, l1_0] : 0 <= l0_0 <= 17 and 0 <= l1_0 <= 17 }
  read A { S0[l0_0, l1_0] -> T0[l0_0, l1_0] : 0 <= l0_0 <= 17 and 0 <= l1_0 <= 17 }
S1 C init
  domain { S1[l2_0, l3_0] : 0 <= l2_0 <= 15 and 0 <= l3_0 <= 15 }
  order 1 3 l2 1 l3 0
  write C { S1[l2_0, l3_0] -> T3[l2_0, l3_0] : 0 <= l2_0 <= 15 and 0 <= l3_0 <= 15 }
S2 C update
  domain { S2[l2_0, l3_0, l4_0, l5_0] : 0 <= l2_0 <= 15 and 0 <= l3_0 <= 15 and 0 <= l4_0 <= 2 and 0 <= l5_0 <= 2 }
  order 1 3 l2 1 l3 1 l4 1 l5 1
  write C { S2[l2_0, l3_0, l4_0, l5_0] -> T3[l2_0, l3_0] : 0 <= l2_0 <= 15 and 0 <= l3_0 <= 15 and 0 <= l4_0 <= 2 and 0 <= l5_0 <= 2 }
  point C { S2[l2_0, l3_0, l4_0, l5_0] -> T3[l2_0, l3_0, l4_0, l5_0] : 0 <= l2_0 <= 15 and 0 <= l3_0 <= 15 and 0 <= l4_0 <= 2 and 0 <= l5_0 <= 2 }
  read B { S2[l2_0, l3_0, l4_0, l5_0] -> T2[l2_0 + l4_0, l3_0 + l5_0] : 0 <= l2_0 <= 15 and 0 <= l3_0 <= 15 and 0 <= l4_0 <= 2 and 0 <= l5_0 <= 2 }
  read W { S2[l2_0, l3_0, l4_0, l5_0] -> T1[l4_0, l5_0] : 0 <= l2_0 <= 15 and 0 <= l3_0 <= 15 and 0 <= l4_0 <= 2 and 0 <= l5_0 <= 2 }
# The header of the object.
$ echo '[]' | hone-build --dag st.txt --steps - --symbol stencil -o st.o --header st.h && cat st.h
/* stencil: a kernel made by hone. See hone/kernel.h for how to call it, and
 * hone/pool.h for threads to run it on.
 *
 *   A: in  float32[18, 18]
 *   W: in  float32[3, 3]
 *   C: out float32[16, 16]
 */
#ifndef HONE_KERNEL_stencil_H
#define HONE_KERNEL_stencil_H

#include "hone/kernel.h"

/* Bytes of scratch that hone_env.workspace should have. */
#define stencil_WORKSPACE_BYTES(n_workers) \
	(UINT64_C(1344) + (uint64_t)(n_workers) * UINT64_C(0))

/* Bytes of what the constant inputs alone decide; 0 = nothing to prepare. */
#define stencil_PREPARED_BYTES UINT64_C(0)

#ifdef __cplusplus
extern "C" {
#endif

int32_t stencil(const float *A, const float *W, float *C, const struct hone_env *env);
int32_t stencil_packed(void *const *args, const struct hone_env *env);

#ifdef __cplusplus
}
#endif

#endif
# What constant inputs alone decide is prepared: it has a block and functions of its own.
$ echo 'sc(const float32 W[16,20], float32 A[24,16], const float32 b[20]) -> D { P(k,j) = W(k,j) * 2.0 C(i,j) +=! A(i,k) * P(k,j) D(i,j) = C(i,j) + b(j) }' > sc.txt; echo '[]' | hone-build --dag sc.txt --steps - --emit-tree --symbol scaled -o sc.o --header sc.h | head -5 && sed -n '/UINT64_C/p; /prepare/p' sc.h
arg W [16, 20]
arg A [24, 16]
arg b [20]
prepared P [16, 20]
shared C [24, 20]
	(UINT64_C(1920) + (uint64_t)(n_workers) * UINT64_C(0))
/* Bytes of what the constant inputs alone decide; 0 = nothing to prepare. */
#define scaled_PREPARED_BYTES UINT64_C(1280)
/* Fill scaled_PREPARED_BYTES at `prepared`, 64-byte aligned, for hone_env.prepared. */
int32_t scaled_prepare(const float *W, const float *b, void *prepared, const struct hone_env *env);
int32_t scaled_prepare_packed(void *const *args, void *prepared, const struct hone_env *env);
# Refused with the reason.
$ echo '[["SP", 2, 0, 24, [0], 1]]' | hone-build --dag mm.txt --steps -
hone-build: steps: step 0: SP: lens is 0; it must lie in 1..2147483647
[17]
$ echo '[["CA", 2, 3, 9]]' | hone-build --dag st.txt --steps -
hone-build: step 0: CA stage 2 (B): iterator 9: target 3 (C) has 4
[17]
$ echo '[["AN", 2, 2, 3]]' | hone-build --dag mm.txt --steps -
hone-build: ILLEGAL: stage 2 (C): iterations of parallel loop k share an element of C
[17]
$ echo '[]' | hone-build --dag mm.txt --steps - --symbol expf
hone-build: symbol 'expf' is a word of C, or a function of its library or of hone's pool: name the kernel otherwise (--symbol)
[17]
$ echo '[]' | hone-build --dag mm.txt --steps - --symbol int
hone-build: symbol 'int' is a word of C, or a function of its library or of hone's pool: name the kernel otherwise (--symbol)
[17]
$ echo '[]' | hone-build --dag mm.txt --steps - --symbol 9lives
hone-build: symbol '9lives' is not a C identifier
[17]
