# An operand as panels: a copy in blocks that is a stage like any other.
$ echo 'mm(float32 A[24,16], float32 B[16,20]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ echo '[["PK", 1, [16, 8]], ["AN", 2, 1, 3], ["AN", 2, 3, 2], ["SP", 3, 0, 24, [6], 1], ["SP", 3, 2, 20, [8], 1], ["RE", 3, [2, 0, 4, 1, 3]], ["AN", 3, 4, 2]]' | hone-build --dag mm.txt --steps - --emit-tree
arg A [24, 16]
arg B [16, 20]
shared B.pack [1, 3, 16, 8]
arg C [24, 20]
for ax0#0 (1)
  parallel ax1#1 (3)
    for ax2#2 (16)
      vectorize ax3#3 (8)
        B.pack[0, ax1#1, ax2#2, ax3#3] = if(ax1#1 * 8 + ax3#3 < 20, B[ax2#2, ax1#1 * 8 + ax3#3], 0)
for j.0#4 (3)
  for i.0#5 (4)
    for i.1#9 (6)
      vectorize j.1#10 (8)
        if j.0#4 * 8 + j.1#10 < 20
          C[i.0#5 * 6 + i.1#9, j.0#4 * 8 + j.1#10] = 0
    for k#6 (16)
      for i.1#7 (6)
        vectorize j.1#8 (8)
          if j.0#4 * 8 + j.1#8 < 20
            C[i.0#5 * 6 + i.1#7, j.0#4 * 8 + j.1#8] += A[i.0#5 * 6 + i.1#7, k#6] * B.pack[0, floordiv(j.0#4 * 8 + j.1#8, 8), k#6, floormod(j.0#4 * 8 + j.1#8, 8)]
# Packed inside the loop that reads a panel, only that panel is held.
$ echo '[["PK", 1, [16, 4]], ["SP", 3, 1, 20, [4], 1], ["RE", 3, [1, 0, 3, 2]], ["CA", 2, 3, 0]]' | hone-build --dag mm.txt --steps - --emit-tree
arg A [24, 16]
arg B [16, 20]
arg C [24, 20]
for j.0#4 (5)
  local B.pack [1, 1, 16, 4] from [0, j.0#4, 0, 0]
  for ax0#0 (1)
    for ax1#1 (1)
      for ax2#2 (16)
        for ax3#3 (4)
          B.pack[0, j.0#4, ax2#2, ax3#3] = B[ax2#2, j.0#4 * 4 + ax3#3]
  for i#5 (24)
    for j.1#8 (4)
      C[i#5, j.0#4 * 4 + j.1#8] = 0
    for k#6 (16)
      for j.1#7 (4)
        C[i#5, j.0#4 * 4 + j.1#7] += A[i#5, k#6] * B.pack[0, floordiv(j.0#4 * 4 + j.1#7, 4), k#6, floormod(j.0#4 * 4 + j.1#7, 4)]
# What is no packing is refused.
$ echo '[["PK", 1, [16]]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: step 0: PK stage 1 (B): 1 block lengths for 2 dimensions
[17]
$ echo '[["PK", 1, [1, 1]]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: step 0: PK stage 1 (B): no dimension is blocked
[17]
$ echo '[["PK", 1, [17, 4]]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: step 0: PK stage 1 (B): block length 0 must be chosen in 1..16
[17]
$ echo '[["PK", 1, [null, 4]]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: steps: a decision is still open
[17]
$ echo '[["PK", 2, [4, 4]]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: step 0: PK stage 2 (C): nobody reads it
[17]
$ echo '[["PK", 9, [4]]]' | hone-build --dag mm.txt --steps - --emit-tree
hone-build: step 0: PK stage 9: there are 3 stages
[17]
