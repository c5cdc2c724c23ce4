//! Any text: the slots of its shape are the constants that PostgreSQL's own scanner finds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pg_query::protobuf::Token;
use pgmoat_policy::shape::{SlotClass, shape};

fuzz_target!(|text: &str| {
    let shape = shape(text);
    assert_eq!(shape.fingerprint(), pgmoat_policy::shape::shape(text).fingerprint());
    if shape.is_exact() || text.contains('\0') {
        return;
    }
    let Ok(scanned) = pg_query::scan(text) else { return };
    let constants = scanned.tokens.iter().filter_map(|token| {
        let class = match token.token() {
            Token::Sconst => SlotClass::String,
            Token::Iconst => SlotClass::Integer,
            Token::Fconst => SlotClass::Number,
            _ => return None,
        };
        Some((token.start as usize..token.end as usize, class))
    });
    let slots = shape.slots().iter().map(|slot| (slot.span.clone(), slot.class));
    assert!(slots.eq(constants), "{text:?}: {:?}", shape.slots());
});
