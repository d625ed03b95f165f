# A GPU's kernel is its device program (docs/device.md), and no object that `hone replay` could give.
$ echo 's(float32 A[30,64]) -> S { S(i) +=! A(i,k) }' >s.txt
$ echo '[["SP", 1, 1, 64, [32], 1], ["AN", 1, 0, 5], ["AN", 1, 2, 6]]' >threads.json
$ hone-build --dag s.txt --steps threads.json --target cuda -o s.device && cat s.device
device/1
global A float32[1920] arg 0
global S float32[30] arg 1
local S.part float32[1]
shared S.parts float32[32]
kernel k0 grid 30 1 1 block 32 1 1 {
  if (thread.x < 1) {
    S[block.x] = 0.0
  }
  S.part[0] = 0.0
  for v6 2 {
    S.part[0] = (S.part[0] + A[(((block.x * 64) + thread.x) + (v6 * 32))])
  }
  S.parts[thread.x] = S.part[0]
  barrier
  if (thread.x < 16) {
    S.parts[thread.x] = (S.parts[thread.x] + S.parts[(thread.x + 16)])
  }
  barrier
  if (thread.x < 8) {
    S.parts[thread.x] = (S.parts[thread.x] + S.parts[(thread.x + 8)])
  }
  barrier
  if (thread.x < 4) {
    S.parts[thread.x] = (S.parts[thread.x] + S.parts[(thread.x + 4)])
  }
  barrier
  if (thread.x < 2) {
    S.parts[thread.x] = (S.parts[thread.x] + S.parts[(thread.x + 2)])
  }
  barrier
  if (thread.x < 1) {
    S.parts[thread.x] = (S.parts[thread.x] + S.parts[(thread.x + 1)])
  }
  barrier
  if (thread.x < 1) {
    S[block.x] = (S[block.x] + S.parts[0])
  }
}
$ echo '[["AN", 1, 1, 5]]' | hone-build --dag s.txt --steps - --target cuda -o s.device
hone-build: ILLEGAL: stage 1 (S): iterations of blockIdx.x loop k share an element of S
[17]
$ hone replay s.txt --record threads.json --target cuda -o .
hone: replay: hone-build: target cuda: hone makes a device program for it, no object yet; `hone-build --target cuda --dag FILE --steps FILE -o FILE` writes the program
[18]
