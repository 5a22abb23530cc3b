//! What `--help` of each command shows below its options: commands to start from.

pub const ALL: &str = "\
Examples:
  dmo-trace plan model.tflite --out planned.tflite
  dmo-trace verify planned.tflite --kernels libcmsis-nn.a
  dmo-trace run firmware.elf

Exit codes: 0 the checked property holds; 1 it fails; 2 usage or input error.
Results go to stdout, messages to stderr.";

pub const RUN: &str = "\
Examples:
  dmo-trace run firmware.elf --plot pictures --save firmware.dmotrace
  dmo-trace run firmware.elf --perfetto firmware.pftrace
  dmo-trace run firmware.elf --layer 'conv=my_conv(in: r0 size r2*64, out: r1 size 4096)'
  dmo-trace run firmware.elf --model model.tflite --arena tensor_arena --stop-after 31";

pub const OVERLAP: &str = "\
Examples:
  dmo-trace overlap conv2d --input 1x32x32x16 --filter 32x3x3x16 --stride 2 --padding same
  dmo-trace overlap add --input 1x8x8x16 --input 1x8x8x16 --kernels libcmsis-nn.a";

pub const LAYERS: &str = "\
Examples:
  dmo-trace layers model.tflite --kernels libcmsis-nn.a --kernels dsp --flash-part stm32l4
  dmo-trace layers keywords.tflite person_detect.tflite --json";

pub const EXPLAIN: &str = "\
Examples:
  dmo-trace explain run firmware.elf --select conv_1 --source src
  dmo-trace explain overlap conv2d --input 1x8x8x4 --filter 4x3x3x4 --padding same";

pub const EXPLAIN_RUN: &str = "\
Examples:
  dmo-trace explain run firmware.elf --select conv_1 --source src
  dmo-trace explain run firmware.elf --layers cmsis-nn --stop-after 31 --json";

pub const EXPLAIN_OVERLAP: &str = "\
Examples:
  dmo-trace explain overlap conv2d --input 1x8x8x4 --filter 4x3x3x4 --padding same
  dmo-trace explain overlap add --input 1x8x8x16 --input 1x8x8x16 --pair 2";

pub const PLAN: &str = "\
Examples:
  dmo-trace plan model.tflite --out planned.tflite
  dmo-trace plan model.tflite --overlap traced --kernels libcmsis-nn.a --out plan.json
  dmo-trace plan model.tflite --firmware firmware.elf --out planned.tflite
  dmo-trace plan model.tflite --allow prune --out pruned.tflite
  dmo-trace plan model.tflite --allow inplace,remove,split,patch,cache --max-recompute 10%";

pub const BUILD: &str = "\
Examples:
  dmo-trace build model.tflite --out model
  dmo-trace build model.tflite --out model --ram 24K --prove
  dmo-trace build model.tflite --out model --allow remove,cache --name detector";

pub const STREAM: &str = "\
Examples:
  dmo-trace stream wakeword.tflite --rows 1
  dmo-trace stream wakeword.tflite --rows 1 --out streamed.tflite";

pub const DECODE: &str = "\
Examples:
  dmo-trace decode compressed.tflite
  dmo-trace decode compressed.tflite --out decoded.tflite";

pub const ARENA: &str = "\
Examples:
  dmo-trace arena model.tflite --operators
  dmo-trace arena planned.tflite --kernels cmsis-nn --capacity 64K";

pub const AUDIT: &str = "\
Examples:
  dmo-trace audit planned.tflite --capacity 64K
  dmo-trace audit model.tflite --plan plan.json";

pub const VERIFY: &str = "\
Examples:
  dmo-trace verify planned.tflite --kernels libcmsis-nn.a
  dmo-trace verify planned.tflite --every-input
  dmo-trace verify planned.tflite --firmware firmware.elf
  dmo-trace verify model.tflite --plan plan.json --plot pictures";

pub const ZOO: &str = "\
Examples:
  dmo-trace zoo
  dmo-trace zoo export mobilenet_v1_0.25_128:int8 --out mobilenet.tflite";

pub const ZOO_LIST: &str = "\
Example:
  dmo-trace zoo list";

pub const ZOO_EXPORT: &str = "\
Example:
  dmo-trace zoo export mobilenet_v1_0.25_128:int8 --out mobilenet.tflite --seed 1";

pub const SAVINGS: &str = "\
Examples:
  dmo-trace savings person_detect.tflite keywords.tflite --plot pictures
  dmo-trace savings zoo:mobilenet_v1_0.25_128:int8 --json";

pub const INFO: &str = "\
Example:
  dmo-trace info firmware.dmotrace --json";

pub const KERNELS: &str = "\
Examples:
  dmo-trace kernels --out third_party/dmo-nn
  dmo-trace kernels --cpu cortex-m0plus --out third_party/dmo-nn";

pub const SCHEMA: &str = "\
Examples:
  dmo-trace schema plan
  dmo-trace schema --out schemas";

pub const COMPLETIONS: &str = "\
Example:
  dmo-trace completions bash";

pub const MAN: &str = "\
Example:
  dmo-trace man --out ~/.local/share/man/man1";
