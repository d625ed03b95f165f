# Lengths that do not divide: the guard is in the tree, the code of full tiles has none.
$ echo 'mm(float32 A[24,503], float32 B[503,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ echo '[["SP", 2, 2, 503, [16], 1]]' > k16.txt
$ hone-build --dag mm.txt --steps k16.txt --emit-tree
arg A [24, 503]
arg B [503, 64]
arg C [24, 64]
for i#0 (24)
  for j#1 (64)
    C[i#0, j#1] = 0
    for k.0#2 (32)
      for k.1#3 (16)
        if k.0#2 * 16 + k.1#3 < 503
          C[i#0, j#1] += A[i#0, k.0#2 * 16 + k.1#3] * B[k.0#2 * 16 + k.1#3, j#1]
# A reduction of 503 by 16: 31 tiles in full, seven iterations more, and no mask anywhere.
$ hone-build --dag mm.txt --steps k16.txt --target 'cpu -isa=x86-64-avx2' --emit-ir > k16.ll && grep -c ' select ' k16.ll
0
[1]
# The same with lengths at two levels.
$ echo '[["SP", 2, 2, 503, [5, 7], 1]]' | hone-build --dag mm.txt --steps - --target 'cpu -isa=x86-64-avx2' --emit-ir > k57.ll && grep -c ' select ' k57.ll
0
[1]
