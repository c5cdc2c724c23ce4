//! RowDescription against the judge's lineage.

use pgmoat_policy::Shown;
use pgmoat_upstream::frame::Cursor;

use super::Masks;
use crate::session::broken::Broken;

/// Compares each output that PostgreSQL could name the column of.
///
/// # Errors
/// One is a masked column and not masked, or the other way round; their numbers differ; it is malformed.
pub(super) fn compare(
    body: &[u8],
    masks: Option<&Masks>,
    shown: impl Fn(u32, i16) -> Shown,
) -> Result<(), Broken> {
    let mut cursor = Cursor::new(body);
    let count = usize::from(cursor.u16("column count")?);
    if let Some(masks) = masks.filter(|masks| masks.outputs() != count) {
        return Err(Broken::Columns { judged: masks.outputs(), got: count });
    }
    let mut last = None;
    for output in 0..count {
        cursor.cstr("column name")?;
        let origin = (cursor.u32("table")?, cursor.i16("column number")?);
        cursor.bytes(TYPE_AND_FORMAT_BYTES, "column type and format")?;
        // Outputs of one column often come more than once.
        let shown = match last {
            Some((same, shown)) if same == origin => shown,
            Some(_) | None => shown(origin.0, origin.1),
        };
        last = Some((origin, shown));
        let hidden = masks.is_some_and(|masks| masks.hides(output));
        let agrees = match shown {
            Shown::Unknown => true,
            Shown::Plain => !hidden,
            Shown::Masked => hidden,
            Shown::Denied => false,
        };
        if !agrees {
            return Err(Broken::Masked { output: output + 1 });
        }
    }
    cursor.finish("RowDescription")?;
    Ok(())
}

/// Type (4), its length (2), its modifier (4), format (2).
const TYPE_AND_FORMAT_BYTES: usize = 12;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    /// Table 7's columns: 1 is plain, 2 is masked, 3 is denied.
    fn seven(table: u32, number: i16) -> Shown {
        match (table, number) {
            (7, 1) => Shown::Plain,
            (7, 2) => Shown::Masked,
            (7, 3) => Shown::Denied,
            _ => Shown::Unknown,
        }
    }

    fn described(numbers: &[i16]) -> Vec<u8> {
        let mut body = u16::try_from(numbers.len()).unwrap().to_be_bytes().to_vec();
        for number in numbers {
            body.extend_from_slice(b"x\0");
            body.extend_from_slice(&if *number == 0 { 0_u32 } else { 7 }.to_be_bytes());
            body.extend_from_slice(&number.to_be_bytes());
            body.extend_from_slice(b"\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
        }
        body
    }

    #[test]
    fn what_both_proofs_agree_on_passes() {
        let masks = Masks::new(3, [1]);
        assert_eq!(compare(&described(&[1, 2, 0]), masks.as_ref(), seven), Ok(()));
        assert_eq!(compare(&described(&[1, 0]), None, seven), Ok(()));
        // An output of a set operation has no column; the judge masks it.
        assert_eq!(compare(&described(&[1, 0, 1]), masks.as_ref(), seven), Ok(()));
    }

    #[test]
    fn where_they_disagree_nothing_passes() {
        let second = Masks::new(2, [1]);
        for (numbers, masks, output) in [
            (&[1, 2][..], None, 2),
            (&[2, 1], second.as_ref(), 1),
            (&[1, 1], second.as_ref(), 2),
            (&[3], None, 1),
        ] {
            let said = compare(&described(numbers), masks, seven);
            assert_eq!(said, Err(Broken::Masked { output }), "{numbers:?}");
        }
        let said = compare(&described(&[1, 2, 1]), second.as_ref(), seven);
        assert_eq!(said, Err(Broken::Columns { judged: 2, got: 3 }));
    }

    #[test]
    fn a_description_that_lies_about_its_lengths_is_none() {
        let whole = described(&[1, 0]);
        for end in 0..whole.len() {
            assert!(compare(whole.get(..end).unwrap(), None, seven).is_err(), "{end}");
        }
        assert!(compare(&[&whole[..], b"x"].concat(), None, seven).is_err());
    }
}
