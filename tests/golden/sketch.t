# The structures that search begins from, in Ansor's order.
$ hone sketch $HONE_SOURCE/examples/matmul.txt --rules ansor --target llvm --hardware 4,64,64,0,0,0,0,0
sketch 0: tile
Placeholder: A, B
for i.0 (None)
  for j.0 (None)
    for i.1 (None)
      for j.1 (None)
        for k.0 (None)
          for i.2 (None)
            for j.2 (None)
              for k.1 (None)
                for i.3 (None)
                  for j.3 (None)
                    C = ...

sketch 1: add_cache_write,tile_fuse
Placeholder: A, B
for i.0 (None)
  for j.0 (None)
    for i_c.0 (None)
      for j_c.0 (None)
        for i_c.1 (None)
          for j_c.1 (None)
            for k.0 (None)
              for i_c.2 (None)
                for j_c.2 (None)
                  for k.1 (None)
                    for i_c.3 (None)
                      for j_c.3 (None)
                        C.local = ...
    for i.1 (None)
      for j.1 (None)
        C = ...

sketch 2: add_cache_write,tile_fuse
Placeholder: A, B
for i.0 (None)
  for j.0 (None)
    for i.1 (None)
      for j.1 (None)
        for i_c.0 (None)
          for j_c.0 (None)
            for i_c.1 (None)
              for j_c.1 (None)
                for k.0 (None)
                  for i_c.2 (None)
                    for j_c.2 (None)
                      for k.1 (None)
                        for i_c.3 (None)
                          for j_c.3 (None)
                            C.local = ...
        for i.2 (None)
          for j.2 (None)
            C = ...
$ hone sketch --target llvm --json --text 'r(float32 A[64]) -> B { B +=! A(k) }'
["Placeholder: A\u000afor k_o (0,64)\u000a  B.rf = ...\u000afor k_o_v (0,64)\u000a  B.repl = ...\u000a","Placeholder: A\u000afor k_o (0,64)\u000a  B.rf = ...\u000aB.repl = ...\u000a","Placeholder: A\u000afor k (0,64)\u000a  B = ...\u000a"]
$ hone sketch --target cuda --hardware -1,16,64,49152,2147483647,1024,8,32 --json --text 'mm(float32 A[8,8], float32 B[8,1024]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
["Placeholder: A, B\u000afor i.0 (None)\u000a  for j.0 (None)\u000a    for i.1 (None)\u000a      for j.1 (None)\u000a        for i.2 (None)\u000a          for j.2 (None)\u000a            for i_c.0 (None)\u000a              for j_c.0 (None)\u000a                for i_c.1 (None)\u000a                  for j_c.1 (None)\u000a                    for i_c.2 (None)\u000a                      for j_c.2 (None)\u000a                        for k.0 (None)\u000a                          for ax0 (None)\u000a                            for ax1 (None)\u000a                              B.shared = ...\u000a                          for ax0 (None)\u000a                            for ax1 (None)\u000a                              A.shared = ...\u000a                          for k.1 (None)\u000a                            for i_c.3 (None)\u000a                              for j_c.3 (None)\u000a                                for k.2 (None)\u000a                                  for i_c.4 (None)\u000a                                    for j_c.4 (None)\u000a                                      C.local = ...\u000a            for i.3 (None)\u000a              for j.3 (None)\u000a                C = ...\u000a"]
$ hone sketch --text 'c(float32 A[]) -> B { B = A * 2 }' --target llvm
sketch 0
Placeholder: A
B = ...
$ hone sketch $HONE_SOURCE/examples/matmul.txt --rules mine
hone: --rules: "mine" is unknown; known: ansor, hone
[17]
$ hone sketch $HONE_SOURCE/examples/matmul.txt --target llvm --hardware 4,64
hone: --hardware: "4,64" is not a list of 8 whole numbers, such as 4,64,64,0,0,0,0,0
[17]
$ hone sketch $HONE_SOURCE/examples/matmul.txt --target llvm --hardware 4,64,64,0,0,0,0,9999999
hone: --target, --hardware: target: '-warp_size=9999999': want a whole number from 0 to 1024
[17]
$ hone sketch $HONE_SOURCE/examples/matmul.txt --target abacus
hone: target: unknown kind 'abacus': want one of native, cpu, cuda, opencl, npu, fake
[17]
# Those, and hone's own: the operand that lanes run along, in panels.
$ hone sketch --rules hone --target llvm --text 'mm(float32 A[64,96], float32 B[96,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' | grep sketch
sketch 0: tile
sketch 1: add_cache_write,tile_fuse
sketch 2: add_cache_write,tile_fuse
sketch 3: tile,pack
sketch 4: add_cache_write,tile_fuse,pack
sketch 5: add_cache_write,tile_fuse,pack
