# A GPU's kernel is a module (docs/device.md), which `hone replay` writes in several forms.
$ echo 's(float32 A[30,64]) -> S { S(i) +=! A(i,k) }' >s.txt
$ echo '[["SP", 1, 1, 64, [32], 1], ["AN", 1, 0, 5], ["AN", 1, 2, 6]]' >threads.json
$ hone-build --dag s.txt --steps threads.json --target cuda --form device -o s.device && cat s.device
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
$ hone replay s.txt --record threads.json --target "cuda -isa=sm_80" --as ptx,opencl --unchecked -o . && grep -c reqntid s.ptx && grep -c __kernel s.cl && sed 's/.*\("buffers":\[{.*\),"hone".*/\1/' s.json
./s.module
./s.json
./s.ptx
./s.cl
1
1
"buffers":[{"bytes":7680,"arg":0},{"bytes":120,"arg":1}],"launches":[{"kernel":"k0","grid":[30,1,1],"block":[32,1,1],"shared":0,"buffers":[0,1]}]
$ hone replay s.txt --record threads.json --target "cuda -isa=sm_70" --as so -o .
hone: --as: kernels for target cuda have no form so; they have ptx, cubin, opencl, cuda, launch
[17]
$ hone replay s.txt --record threads.json --target "opencl -isa=opencl" --as opencl,launch -o .
hone: --as: kernels for target opencl have no form launch; they have opencl, cuda
[17]
$ hone replay s.txt --record threads.json --target "opencl -isa=opencl" --as opencl,cuda -o .
hone: the kernel was not run: a GPU's is compared where it is measured (hone tune)
./s.module
./s.json
./s.cl
./s.cu
$ hone replay s.txt --record threads.json --target "cuda -isa=sm_70" --as picture -o .
hone: --as: kernels for target cuda have no form picture; they have ptx, cubin, opencl, cuda, launch
[17]
$ hone replay s.txt --record threads.json --target "cuda -isa=sm_70" --also cuda -o .
hone: --also: a GPU's kernel is of one target
[17]
$ hone=$(command -v hone) && PATH=/nonexistent "$hone" replay s.txt --record threads.json --target "cuda -isa=sm_70" --as cubin --unchecked -o .
hone: replay: --as cubin needs NVIDIA's ptxas, which is not in PATH; --as ptx does without, and a driver takes that, too
[18]
$ hone-build --dag s.txt --steps threads.json --target "cuda -isa=sm_80" -o s.module && head -n 5 s.module | sed 's/code [0-9]*/code N/'
module/1 ptx sm_80
buffer 7680 0
buffer 120 1
kernel k0 grid 30 1 1 block 32 1 1 shared 128 0 args 0 1
code N
$ hone-build --dag s.txt --steps threads.json --target opencl --form opencl -o s.module && sed -n '1,/^code/p;/^__kernel/,$p' s.module | sed 's/code [0-9]*/code N/'
module/1 opencl opencl
buffer 7680 0
buffer 120 1
kernel k0 grid 30 1 1 block 32 1 1 shared 128 0 args 0 1
code N
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k0(__global const f32 *restrict b0_A, __global f32 *restrict b1_S)
{
	f32 b2_S_part_0;
	__local f32 b3_S_parts[32];
	const i32 block_x = (i32)get_group_id(0);
	const i32 thread_x = (i32)get_local_id(0);
	if ((thread_x < 1)) {
		b1_S[block_x] = (0x0p+0f);
	}
	b2_S_part_0 = (0x0p+0f);
	b2_S_part_0 = (b2_S_part_0 + b0_A[((block_x * 64) + thread_x)]);
	b2_S_part_0 = (b2_S_part_0 + b0_A[((block_x * 64) + thread_x) + 32]);
	b3_S_parts[thread_x] = b2_S_part_0;
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	if ((thread_x < 16)) {
		b3_S_parts[thread_x] = (b3_S_parts[thread_x] + b3_S_parts[thread_x + 16]);
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	if ((thread_x < 8)) {
		b3_S_parts[thread_x] = (b3_S_parts[thread_x] + b3_S_parts[thread_x + 8]);
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	if ((thread_x < 4)) {
		b3_S_parts[thread_x] = (b3_S_parts[thread_x] + b3_S_parts[thread_x + 4]);
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	if ((thread_x < 2)) {
		b3_S_parts[thread_x] = (b3_S_parts[thread_x] + b3_S_parts[thread_x + 2]);
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	if ((thread_x < 1)) {
		b3_S_parts[thread_x] = (b3_S_parts[thread_x] + b3_S_parts[thread_x + 1]);
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	if ((thread_x < 1)) {
		b1_S[block_x] = (b1_S[block_x] + b3_S_parts[0]);
	}
}
$ hone-build --dag s.txt --steps threads.json --target cuda --form spirv -o s.module
hone-build: form spirv: there are device, opencl, cuda and ptx
[17]
