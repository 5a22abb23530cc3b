//! Kinds of operators and types of elements, by the codes and names of the schema.

use dmo_analysis::graph::{Kind, TensorType};

/// Some codes of the public schema, so that no variant is missing.
#[test]
fn kinds_have_the_codes_of_the_schema() {
    for (code, name) in [
        (0, "ADD"),
        (25, "SOFTMAX"),
        (32, "CUSTOM"),
        (50, "LOG_SOFTMAX"),
        (67, "TRANSPOSE_CONV"),
        (97, "RESIZE_NEAREST_NEIGHBOR"),
        (114, "QUANTIZE"),
        (126, "BATCH_MATMUL"),
        (144, "ASSIGN_VARIABLE"),
        (161, "RIGHT_SHIFT"),
    ] {
        let kind = Kind::of_code(code);
        assert_eq!((kind.name(), kind.code()), (name, Some(code as usize)));
        assert_eq!(Kind::from(name), kind);
    }
    assert_eq!(Kind::of_code(162), Kind::Other("BUILTIN:162".to_owned()));
    assert_eq!(Kind::of_code(-1), Kind::Other("BUILTIN:-1".to_owned()));
    assert_eq!(Kind::Requantize.code(), None);
}

#[test]
fn types_have_the_codes_of_the_schema() {
    for (code, name) in [(0, "FLOAT32"), (9, "INT8"), (17, "INT4"), (200, "TYPE:200")] {
        let of_code = TensorType::of_code(code);
        assert_eq!(of_code.to_string(), name);
        assert_eq!(TensorType::try_from(name.to_owned()), Ok(of_code));
    }
    assert!(TensorType::try_from("INT5".to_owned()).is_err());
}

#[test]
fn kinds_that_do_more_than_their_tensors_show_are_known() {
    for kind in [
        "RANDOM_UNIFORM",
        "MULTINOMIAL",
        "HASHTABLE_FIND",
        "VAR_HANDLE",
        "WHILE",
    ] {
        assert!(Kind::from(kind).has_hidden_state(), "{kind}");
    }
    for kind in ["BUILTIN:190", "STABLEHLO_WHILE", "BUILTIN:-1"] {
        assert!(Kind::from(kind).has_hidden_state(), "{kind}");
    }
    for kind in ["CUSTOM:accelerator", "CONV_2D", "LSTM"] {
        assert!(!Kind::from(kind).has_hidden_state(), "{kind}");
    }
}
