//! Numbers as people write and read them.

use dmo_analysis::wording::{bytes, grouped, parse_size};

#[test]
fn numbers_are_grouped() {
    let texts = [0, 999, 1000, 1_234_567].map(grouped);
    assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(bytes(1), "1 byte");
}

#[test]
fn sizes_are_read_in_each_form() {
    for (text, bytes) in [
        ("65536", 65536),
        ("65536B", 65536),
        ("64K", 65536),
        ("64KiB", 65536),
        ("64kB", 65536),
        ("64kb", 65536),
        ("64 kib", 65536),
        ("64 K", 65536),
        ("8M", 8 << 20),
        ("4G", 4 << 30),
        ("0x10000", 65536),
        ("0X1b", 27),
        ("0x1B", 27),
        ("0x10K", 16384),
    ] {
        assert_eq!(parse_size(text), Ok(bytes), "{text}");
    }
    for text in [
        "",
        "K",
        "0x",
        "-1",
        "1.5M",
        "99999999999999999999",
        "17592186044416M",
    ] {
        assert!(parse_size(text).is_err(), "{text}");
    }
}
