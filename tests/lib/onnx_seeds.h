/* onnx_seeds.h -- small models that have, together, every message and field that is read: what
 * the fuzz target begins with, and what the test of damaged models damages.  In the notation of
 * onnx_writer.h. */
#ifndef HN_TESTS_ONNX_SEEDS_H
#define HN_TESTS_ONNX_SEEDS_H

static const char *const onnx_seeds[] = {
	/* everything at once */
	"1:8 2'maker' 3'1.2' 4'org.me' 5:3 6'any\ntext' 8{2:17} 8{1'ai.onnx.ml' 2:3} "
	"14{1'key' 2'a value\nof two lines'} 25{1'fn' 10'dom' 7{4'Relu'}} 99'later' "
	"7{2'main' "
	"1{1'x' 1'' 1'w' 2'y' 3'n/1:a' 4'Conv' 5{1'pads' 20:7 8[1 2 -1] 8:5} 5{1'auto' 20:3 "
	"4'SAME'} 5{1'alpha' 20:1 2=0.5} 5{1'axis' 20:2 3:-1} 6'doc' 7'my.ops' 8'over'} "
	"1{4'Constant' 2'c' 5{1'value' 20:4 5{1:2 2:1 4(1 2)}}} "
	"1{4'If' 1'c' 2'z' 5{1'then' 20:5 6{2'inner' 1{4'Neg' 1'y' 2'z'}}}} "
	"1{4'Many' 5{1'a' 20:6 7(1 2) 7=3} 5{1'b' 20:8 9'p' 9'q'} 5{1'c' 20:9 10{2:6 5:7} "
	"10{2:7 7:8}} 5{1'd' 20:10 11{2'g1'} 11{2'g2'}} 5{1'e' 20:13 14{}} 5{1'f' 21'up'}} "
	"5{8'w' 1[2 3] 2:1 9#000000000000000000000000000000000000000000000000} "
	"11{1'x' 2{1{1:1 2{1{2'N'} 1{1:3} 1{1:-1} 1{} 1{3'batch'}}}}} "
	"11{1'any' 2{1{1:7}}} 11{1'scalar' 2{1{1:7 2{}}}} 11{1'list' 2{4{1{1{1:1}}}}} "
	"11{1'none'} 11{1'odd' 2{}} 12{1'y' 2{1{1:1}}} 13{1'v' 2{9{}}} 10'doc' 14{1'q'} "
	"15{3:1}}",
	/* a layer, as exporters write it */
	"1:7 2'pytorch' 3'2.1' 7{1{1'x' 1'w' 1'b' 2'h' 3'/fc/Gemm' 4'Gemm' 5{1'alpha' 2=1 20:1} "
	"5{1'transB' 3:1 20:2}} 1{1'h' 2'y' 3'/act/Relu' 4'Relu'} 2'main_graph' "
	"5{1:2 1:3 2:1 8'w' 9#00000000000080bf000000400000404000008040000000c0} "
	"5{1:2 2:1 8'b' 9#0000803f00000040} 11{1'x' 2{1{1:1 2{1{2'batch'} 1{1:3}}}}} "
	"12{1'y' 2{1{1:1 2{1{2'batch'} 1{1:2}}}}}} 8{1'' 2:17}",
	/* data of every type, in every field */
	"7{5{2:1 1:2 4(1 -2)} 5{2:1 1:2 4=1 4=-2} 5{2:11 10<1>} 5{2:14 1:1 4(1 2)} "
	"5{2:15 1:1 10<1 2>} 5{2:6 1:2 5[-1 2147483647]} 5{2:3 1:2 5[-128 127]} "
	"5{2:2 1:2 5[0 255]} 5{2:5 1:2 5[-32768 32767]} 5{2:4 1:1 5[65535]} 5{2:9 1:2 5[0 1]} "
	"5{2:10 1:1 5[15360]} 5{2:16 1:1 5[16256]} 5{2:17 1:1 5[56]} 5{2:22 1:3 5[33 3]} "
	"5{2:25 1:5 5[228 1]} 5{2:27 1:4 9#010203} 5{2:7 1:3 7[-1 0 9223372036854775807]} "
	"5{2:12 1:1 11[4294967295]} 5{2:13 1:1 11[-1]} 5{2:8 1:2 6'ab' 6''} 5{2:1 1:0}}",
	/* weights in other files */
	"7{5{8'w' 2:1 1[2 2] 13{1'location' 2'a/b.bin'} 13{1'offset' 2'4096'} "
	"13{1'length' 2'16'} 13{1'checksum' 2'x'} 14:1} 5{2:2 1:4 14:1 13{1'location' 2'c'}}}",
	/* as deep as it may be */
	"7{1{5{20:5 6{1{5{20:5 6{1{5{20:5 6{1{5{20:5 6{1{5{20:5 6{1{5{20:5 6{1{5{20:5 "
	"6{2'deepest'}}}}}}}}}}}}}}}}}}}}}}}",
	/* no types of attributes: files before IR version 2 */
	"1:1 7{1{4'Old' 5{1'a' 2=1} 5{1'b' 3:2} 5{1'c' 4'x'} 5{1'd' 7(1)} 5{1'e' 8[1 2]}}}",
	/* the least, training, and messages that are not read */
	"7{}",
	"7{} 20{1{1{4'Neg'}}} 26{1'gpu'} 14{} 8{} 25{}",
};

#endif
