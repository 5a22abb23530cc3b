//! Text for a terminal: what a program prints and names that files hold may not give the
//! terminal orders.

use std::borrow::Cow;

/// Replaces control characters, but for line ends and tabs, over any number of pieces.
#[derive(Debug, Default)]
pub struct Printable {
    /// The last byte was the first of a character from U+0080 to U+00BF, of which the lower
    /// half are control characters.
    after_c2: bool,
}

impl Printable {
    /// The next piece as it is, or printable for a terminal.
    pub fn for_terminal<'a>(&mut self, terminal: bool, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if terminal {
            self.printable(bytes).into()
        } else {
            bytes.into()
        }
    }

    /// The next piece, with `?` for each byte that is not to be printed.
    fn printable(&mut self, bytes: &[u8]) -> Vec<u8> {
        bytes.iter().map(|&byte| self.byte(byte)).collect()
    }

    fn byte(&mut self, byte: u8) -> u8 {
        let second = std::mem::replace(&mut self.after_c2, byte == 0xc2);
        let control = byte.is_ascii_control() && !b"\n\r\t".contains(&byte)
            || second && (0x80..0xa0).contains(&byte);
        if control { b'?' } else { byte }
    }
}
