//! DataRow messages with some columns made NULL, byte by byte as they come.
//!
//! A message says its length before its columns, and masking changes it; so a row is held back up to its last masked
//! column, without the masked values themselves. What comes behind that goes on as it comes, whatever its length. What
//! is held is bounded by [`HELD_BYTES_MAX`].

use bytes::{BufMut as _, BytesMut};
use pgmoat_upstream::frame::DecodeError;

use super::{Masks, odd};

/// The walk through rows.
#[derive(Debug, Default)]
pub(in crate::session) struct RowMasker {
    state: State,
    /// The row's columns so far, as the client will get them.
    held: Vec<u8>,
}

/// What the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Tag, length and number of columns.
    Header { have: [u8; HEADER_BYTES], filled: usize },
    /// A column's length; `left` bytes of the message are to come, with it.
    Length { column: usize, have: [u8; LENGTH_BYTES], filled: usize, left: usize },
    /// A column's value, of which so many bytes are to come.
    Value { column: usize, value: usize, left: usize },
    /// Behind the last masked column.
    Rest { left: usize },
}

impl Default for State {
    fn default() -> Self {
        State::Header { have: [0; HEADER_BYTES], filled: 0 }
    }
}

/// What cannot be masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is no DataRow.
    Row(DecodeError),
    /// It has another number of columns than were judged.
    Columns { judged: usize, got: usize },
    /// More than [`HELD_BYTES_MAX`] stand before the last masked column.
    TooLong(TooLong),
}

/// See [`Fault::TooLong`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

impl RowMasker {
    /// Takes the next bytes and appends what has become certain.
    pub(super) fn write(&mut self, masks: &Masks, mut bytes: &[u8], out: &mut BytesMut) -> Result<(), Fault> {
        while !bytes.is_empty() {
            bytes = self.step(masks, bytes, out)?;
        }
        Ok(())
    }

    /// Gives back the memory that a long row needed.
    pub(in crate::session) fn rest(&mut self) {
        if self.held.is_empty() {
            self.held = Vec::new();
        }
    }

    fn step<'b>(&mut self, masks: &Masks, bytes: &'b [u8], out: &mut BytesMut) -> Result<&'b [u8], Fault> {
        match self.state {
            State::Header { mut have, filled } => {
                let (filled, rest) = fill(&mut have, filled, bytes);
                self.state = match filled < HEADER_BYTES {
                    true => State::Header { have, filled },
                    false => self.begin(masks, have)?,
                };
                Ok(rest)
            }
            State::Length { column, mut have, filled, left } => {
                let (filled, rest) = fill(&mut have, filled, bytes);
                if filled < LENGTH_BYTES {
                    self.state = State::Length { column, have, filled, left };
                    return Ok(rest);
                }
                let left = left.checked_sub(LENGTH_BYTES).ok_or(Fault::Row(odd("row length")))?;
                self.column(masks, column, i32::from_be_bytes(have), left, out)?;
                Ok(rest)
            }
            State::Value { column, value, left } => {
                let (taken, rest) = bytes.split_at(value.min(bytes.len()));
                if !masks.hides(column) {
                    self.hold(taken)?;
                }
                let (value, left) = (value - taken.len(), left.saturating_sub(taken.len()));
                self.state = State::Value { column, value, left };
                if value == 0 {
                    self.next(masks, column, left, out)?;
                }
                Ok(rest)
            }
            State::Rest { left } => {
                let (taken, rest) = bytes.split_at(left.min(bytes.len()));
                out.extend_from_slice(taken);
                self.state = rest_of(left - taken.len());
                Ok(rest)
            }
        }
    }

    /// A row begins.
    fn begin(&mut self, masks: &Masks, header: [u8; HEADER_BYTES]) -> Result<State, Fault> {
        let [tag, a, b, c, d, high, low] = header;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let got = usize::from(u16::from_be_bytes([high, low]));
        if got != masks.outputs() {
            return Err(Fault::Columns { judged: masks.outputs(), got });
        }
        // The length counts itself and the number of columns.
        let left = length.checked_sub(LENGTH_BYTES + COUNT_BYTES).filter(|_| tag == b'D');
        let left = left.ok_or(Fault::Row(odd("row length")))?;
        self.held.clear();
        self.hold(&[high, low])?;
        Ok(State::Length { column: 0, have: [0; LENGTH_BYTES], filled: 0, left })
    }

    /// A column's length is known; `left` bytes are to come behind it.
    fn column(
        &mut self,
        masks: &Masks,
        column: usize,
        length: i32,
        left: usize,
        out: &mut BytesMut,
    ) -> Result<(), Fault> {
        let value = match length {
            NULL => 0,
            length => usize::try_from(length)
                .ok()
                .filter(|value| *value <= left)
                .ok_or(Fault::Row(odd("column length")))?,
        };
        let said = if masks.hides(column) { NULL } else { length };
        self.hold(&said.to_be_bytes())?;
        self.state = State::Value { column, value, left };
        match value {
            0 => self.next(masks, column, left, out),
            _ => Ok(()),
        }
    }

    /// A column has ended.
    fn next(&mut self, masks: &Masks, column: usize, left: usize, out: &mut BytesMut) -> Result<(), Fault> {
        if masks.last().is_none_or(|last| column < last) {
            self.state = State::Length { column: column + 1, have: [0; LENGTH_BYTES], filled: 0, left };
            return Ok(());
        }
        // What is held and what is left were one message's, less what was left out: it is no longer than that was.
        let length = LENGTH_BYTES + self.held.len() + left;
        out.put_u8(b'D');
        out.put_u32(u32::try_from(length).map_err(|_| Fault::Row(odd("row length")))?);
        out.put_slice(&self.held);
        self.held.clear();
        self.state = rest_of(left);
        Ok(())
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.held.len() + bytes.len() > HELD_BYTES_MAX {
            return Err(Fault::TooLong(TooLong));
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }
}

/// Takes as many bytes as fit; how many there are then, and what is left over.
fn fill<'b, const N: usize>(have: &mut [u8; N], filled: usize, bytes: &'b [u8]) -> (usize, &'b [u8]) {
    let (taken, rest) = bytes.split_at(bytes.len().min(N - filled.min(N)));
    for (to, from) in have.iter_mut().skip(filled).zip(taken) {
        *to = *from;
    }
    (filled + taken.len(), rest)
}

fn rest_of(left: usize) -> State {
    if left == 0 { State::default() } else { State::Rest { left } }
}

/// What may be held of one row, in bytes.
pub(super) const HELD_BYTES_MAX: usize = 16 << 20;
const HEADER_BYTES: usize = 7;
const LENGTH_BYTES: usize = 4;
const COUNT_BYTES: usize = 2;
/// The length that stands for NULL.
const NULL: i32 = -1;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn row(columns: &[Option<&[u8]>]) -> Vec<u8> {
        let mut body = u16::try_from(columns.len()).unwrap().to_be_bytes().to_vec();
        for column in columns {
            match column {
                None => body.extend_from_slice(&NULL.to_be_bytes()),
                Some(value) => {
                    body.extend_from_slice(&u32::try_from(value.len()).unwrap().to_be_bytes());
                    body.extend_from_slice(value);
                }
            }
        }
        let length = u32::try_from(body.len() + 4).unwrap();
        [b"D", &length.to_be_bytes()[..], &body].concat()
    }

    fn masked(masks: &Masks, bytes: &[u8], cut: usize) -> Result<Vec<u8>, Fault> {
        let (mut masker, mut out) = (RowMasker::default(), BytesMut::new());
        for chunk in bytes.chunks(cut.max(1)) {
            masker.write(masks, chunk, &mut out)?;
        }
        assert_eq!(masker.state, State::default(), "rows are whole");
        Ok(out.to_vec())
    }

    #[test]
    fn masked_columns_are_null_however_the_bytes_are_cut() {
        let rows: [&[Option<&[u8]>]; 4] = [
            &[Some(b"one"), Some(b"a secret"), Some(b""), Some(b"secret"), Some(b"last")],
            &[None, None, None, None, None],
            &[Some(b""), Some(b""), Some(b""), Some(b""), Some(b"")],
            &[Some(b"x"), None, Some(b"y"), Some(b"another secret"), None],
        ];
        let bytes: Vec<u8> = rows.iter().flat_map(|columns| row(columns)).collect();
        for hidden in [vec![1, 3], vec![0], vec![4], vec![0, 1, 2, 3, 4], vec![3]] {
            let masks = Masks::new(5, hidden.clone()).unwrap();
            let wanted: Vec<u8> = rows
                .iter()
                .flat_map(|columns| {
                    let columns = columns.iter().enumerate();
                    let shown = columns.map(|(at, value)| value.filter(|_| !hidden.contains(&at)));
                    row(&shown.collect::<Vec<_>>())
                })
                .collect();
            for cut in (1..40).chain([bytes.len()]) {
                assert_eq!(masked(&masks, &bytes, cut).unwrap(), wanted, "{hidden:?} cut {cut}");
            }
        }
    }

    #[test]
    fn a_row_of_another_width_or_with_wrong_lengths_is_none() {
        let masks = Masks::new(2, [1]).unwrap();
        let three = row(&[Some(b"a"), Some(b"b"), Some(b"c")]);
        assert_eq!(masked(&masks, &three, 3), Err(Fault::Columns { judged: 2, got: 3 }));
        let mut longer = row(&[Some(b"a"), Some(b"b")]);
        *longer.get_mut(10).unwrap() = 200;
        assert!(matches!(masked(&masks, &longer, 99), Err(Fault::Row(_))));
        let mut negative = row(&[Some(b"a"), Some(b"b")]);
        *negative.get_mut(7).unwrap() = 0x80;
        assert!(matches!(masked(&masks, &negative, 99), Err(Fault::Row(_))));
        assert!(Masks::new(2, [2]).is_none());
    }

    #[test]
    fn what_is_held_is_bounded_and_masked_values_are_not_held() {
        let long = vec![b'x'; HELD_BYTES_MAX + 1];
        let behind = Masks::new(2, [1]).unwrap();
        let said = masked(&behind, &row(&[Some(&long), Some(b"secret")]), 1 << 16);
        assert_eq!(said, Err(Fault::TooLong(TooLong)));
        let before = Masks::new(2, [0]).unwrap();
        let said = masked(&before, &row(&[Some(b"secret"), Some(&long)]), 1 << 16).unwrap();
        assert_eq!(said, row(&[None, Some(&long)]));
        assert_eq!(
            masked(&before, &row(&[Some(&long), Some(b"b")]), 1 << 16).unwrap(),
            row(&[None, Some(b"b")])
        );
    }
}
