# SPDX-License-Identifier: MIT OR Apache-2.0
#
# The real models that tables of the documentation are made of, the program that they are made with, and how a table
# gets into its page. Models are looked for in $DMO_TRACE_MODELS, else beside the repository; the program is $DMO_TRACE
# or target/release/dmo-trace.

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("DMO_TRACE_MODELS", ROOT.parent / "shared/models"))
PROGRAM = Path(os.environ.get("DMO_TRACE", ROOT / "target/release/dmo-trace"))
INT8 = [
    "mlcommons_tiny/kws_ref_model.tflite",
    "mlcommons_tiny/vww_96_int8.tflite",
    "mlcommons_tiny/pretrainedResnet_quant.tflite",
    "mlcommons_tiny/ad01_int8.tflite",
    "mlcommons_tiny/str_ww_ref_model.tflite",
    "tflite_micro/person_detect.tflite",
    "tflite_micro/micro_speech_quantized.tflite",
    "tinyengine/mcunet_vww.tflite",
]


def found(names):
    """Those of the models that are there."""
    return [FOLDER / name for name in names if (FOLDER / name).is_file()]


def replace_section(page, script, text):
    """Puts a text between the marks of a script in a page of docs/."""
    begin, end = f"<!-- {script} begins -->\n", f"<!-- {script} ends -->\n"
    path = ROOT / "docs" / page
    before, rest = path.read_text().split(begin)
    _, after = rest.split(end)
    path.write_text(before + begin + text + end + after)
