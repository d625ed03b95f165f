# A computation as polyhedra: what `hone poly` shows of its plain loops.
$ echo 'mm(float32 A[8,6], float32 B[6,10]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ hone poly mm.txt
statements:
S0 C init
  domain { S0[l0_0, l1_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 }
  order 1 1 l0 1 l1 0
  write C { S0[l0_0, l1_0] -> T2[l0_0, l1_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 }
S1 C update
  domain { S1[l0_0, l1_0, l2_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 and 0 <= l2_0 <= 5 }
  order 1 1 l0 1 l1 1 l2 1
  write C { S1[l0_0, l1_0, l2_0] -> T2[l0_0, l1_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 and 0 <= l2_0 <= 5 }
  point C { S1[l0_0, l1_0, l2_0] -> T2[l0_0, l1_0, l2_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 and 0 <= l2_0 <= 5 }
  read A { S1[l0_0, l1_0, l2_0] -> T0[l0_0, l2_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 and 0 <= l2_0 <= 5 }
  read B { S1[l0_0, l1_0, l2_0] -> T1[l2_0, l1_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 and 0 <= l2_0 <= 5 }

dependences:
flow {  }
init { S0[l0_0, l1_0] -> S1[l0_0' = l0_0, l1_0' = l1_0, l2_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 and 0 <= l2_0 <= 5 }
reduction { S1[l0_0, l1_0, l2_0] -> S1[l0_0' = l0_0, l1_0' = l1_0, l2_0'] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 and 0 <= l2_0 <= 5 and l2_0' > l2_0 and 0 <= l2_0' <= 5 }
in-place {  }

schedule:
domain: "{ S0[l0_0, l1_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9; S1[l0_0, l1_0, l2_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 9 and 0 <= l2_0 <= 5 }"
child:
  schedule: "[{ S0[l0_0, l1_0] -> [(l0_0)]; S1[l0_0, l1_0, l2_0] -> [(l0_0)] }, { S0[l0_0, l1_0] -> [(l1_0)]; S1[l0_0, l1_0, l2_0] -> [(l1_0)] }]"
  options: "{ atomic[i0] : 0 <= i0 <= 1 }"
  child:
    sequence:
    - filter: "{ S0[l0_0, l1_0] }"
    - filter: "{ S1[l0_0, l1_0, l2_0] }"
      child:
        schedule: "[{ S1[l0_0, l1_0, l2_0] -> [(l2_0)] }]"
        options: "{ atomic[0] }"

ast:
for (int c0 = 0; c0 <= 7; c0 += 1)
  for (int c1 = 0; c1 <= 9; c1 += 1) {
    S0(c0, c1);
    for (int c2 = 0; c2 <= 5; c2 += 1)
      S1(c0, c1, c2);
  }

legality:
legal
# Tiles that do not divide; the vector loop's full iterations are apart.
$ echo '[["SP", 2, 1, 10, [4], 1], ["AN", 2, 2, 2]]' > tiles && hone poly mm.txt --record tiles --as schedule
domain: "{ S1[l0_0, l1_0, l2_0, l3_0] : 0 <= l0_0 <= 7 and l1_0 >= 0 and 0 <= l2_0 <= 9 - 4l1_0 and l2_0 <= 3 and 0 <= l3_0 <= 5; S0[l0_0, l1_0, l2_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 2 and 0 <= l2_0 <= 9 - 4l1_0 and l2_0 <= 3 }"
child:
  schedule: "[{ S1[l0_0, l1_0, l2_0, l3_0] -> [(l0_0)]; S0[l0_0, l1_0, l2_0] -> [(l0_0)] }, { S1[l0_0, l1_0, l2_0, l3_0] -> [(l1_0)]; S0[l0_0, l1_0, l2_0] -> [(l1_0)] }]"
  options: "{ atomic[i0] : 0 <= i0 <= 1 }"
  child:
    mark: "hone:vectorize"
    child:
      schedule: "[{ S1[l0_0, l1_0, l2_0, l3_0] -> [(l2_0)]; S0[l0_0, l1_0, l2_0] -> [(l2_0)] }]"
      options: "{ [isolate[] -> atomic[0]]; atomic[0]; isolate[[i0, i1] -> [i2]] : 0 <= i0 <= 7 and 0 <= i1 <= 1 and 0 <= i2 <= 3 }"
      child:
        sequence:
        - filter: "{ S0[l0_0, l1_0, l2_0] }"
        - filter: "{ S1[l0_0, l1_0, l2_0, l3_0] }"
          child:
            schedule: "[{ S1[l0_0, l1_0, l2_0, l3_0] -> [(l3_0)] }]"
            options: "{ atomic[0] }"
$ hone poly mm.txt --record tiles --as ast
for (int c0 = 0; c0 <= 7; c0 += 1)
  for (int c1 = 0; c1 <= 2; c1 += 1) {
    // hone:vectorize
    if (c1 <= 1) {
      for (int c2 = 0; c2 <= 3; c2 += 1) {
        S0(c0, 4 * c1 + c2);
        for (int c3 = 0; c3 <= 5; c3 += 1)
          S1(c0, 4 * c1 + c2, c3);
      }
    } else {
      for (int c2 = 0; c2 <= 1; c2 += 1) {
        S0(c0, c2 + 8);
        for (int c3 = 0; c3 <= 5; c3 += 1)
          S1(c0, c2 + 8, c3);
      }
    }
  }
# A record of a log, and why it is illegal.
$ echo '{"i": [["[\"mm\"]", "llvm"], [[], [["SP", 2, 2, 6, [4], 1]]]], "r": [[0.1], 0, 1, 1], "v": "v0.2"}' > log
$ echo '{"i": [["[\"mm\"]", "llvm"], [[], [["AN", 2, 2, 3]]]], "r": [[0.1], 0, 1, 1], "v": "v0.2"}' >> log
$ hone poly mm.txt --records log --as legality
legal
$ hone poly mm.txt --records log --index 2 --as legality
ILLEGAL: stage 2 (C): iterations of parallel loop k share an element of C
reduction dependence S1 (update C) -> S1 (update C) is carried by parallel loop k (l2): { S1[l0_0 = 7, l1_0 = 9, l2_0 = 4] -> S1[l0_0' = 7, l1_0' = 9, l2_0' = 5] }
$ hone poly mm.txt --records log --index 3
hone: log: it has 2 records, not 3
[11]
$ hone poly mm.txt --index 2
hone: poly: --index counts the records of --records LOG
[17]
$ hone poly mm.txt --as tree
hone: poly: hone-build: no part "tree": all, statements, dependences, schedule, ast, legality
[17]
$ echo '[["SP", 2, 7, 6, [4], 1]]' > bad && hone poly mm.txt --record bad
hone: poly: hone-build: step 0: SP stage 2 (C) iter 7: the stage has 3 iterators
[17]
