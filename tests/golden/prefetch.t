# An operand fetched ahead: the loop tree says where and how far.
$ echo 'mm(float32 A[24,64], float32 B[64,40]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ echo '[["PF", 2, 2, 1, 8], ["PF", 2, 0, 0, 1]]' > pf.txt
$ hone-build --dag mm.txt --steps pf.txt --emit-tree
arg A [24, 64]
arg B [64, 40]
arg C [24, 40]
for i#0 (24) prefetch A 1 ahead
  for j#1 (40)
    C[i#0, j#1] = 0
    for k#2 (64) prefetch B 8 ahead
      C[i#0, j#1] += A[i#0, k#2] * B[k#2, j#1]
# It changes nothing of what is computed: the model that is proved is that of the plain program.
$ echo '[]' | hone-build --dag mm.txt --steps - --emit-poly > plain && hone-build --dag mm.txt --steps pf.txt --emit-poly | cmp - plain && echo same
same
# Each line of 64 bytes is asked for once: four rows of B at a time are 10 lines, two rows of A are 8.
$ hone-build --dag mm.txt --steps pf.txt --target 'cpu -isa=x86-64-avx2' --emit-ir | grep -c 'call void @llvm.prefetch.p0(ptr %[0-9]*, i32 0, i32 3, i32 1)'
18
# Packed, the panel is fetched from where it lies.
$ echo '[["PK", 1, [64, 16]], ["SP", 3, 1, 40, [16], 1], ["RE", 3, [1, 0, 3, 2]], ["PF", 3, 2, 2, 4]]' | hone-build --dag mm.txt --steps - --emit-tree
arg A [24, 64]
arg B [64, 40]
shared B.pack [1, 3, 64, 16]
arg C [24, 40]
for ax0#0 (1)
  for ax1#1 (3)
    for ax2#2 (64)
      for ax3#3 (16)
        B.pack[0, ax1#1, ax2#2, ax3#3] = if(ax1#1 * 16 + ax3#3 < 40, B[ax2#2, ax1#1 * 16 + ax3#3], 0)
for j.0#4 (3)
  for i#5 (24)
    for j.1#8 (16)
      if j.0#4 * 16 + j.1#8 < 40
        C[i#5, j.0#4 * 16 + j.1#8] = 0
    for k#6 (64) prefetch B.pack 4 ahead
      for j.1#7 (16)
        if j.0#4 * 16 + j.1#7 < 40
          C[i#5, j.0#4 * 16 + j.1#7] += A[i#5, k#6] * B.pack[0, floordiv(j.0#4 * 16 + j.1#7, 16), k#6, floormod(j.0#4 * 16 + j.1#7, 16)]
# What cannot be fetched is refused.
$ echo '[["PF", 2, 2, 2, 1]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: step 0: PF stage 2 (C) iter 2: operand 2 (C): the stage does not read the operand
[17]
$ echo '[["PF", 2, 2, 1, 2000]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: step 0: PF stage 2 (C) iter 2: distance 2000 must lie in 1..1024
[17]
$ echo '[["AN", 2, 0, 3], ["PF", 2, 0, 0, 1]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: step 1: PF stage 2 (C) iter 0: operand 0 (A): the loop's iterations do not follow one another in one thread
[17]
