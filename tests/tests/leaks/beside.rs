//! Two clients at one time on one upstream connection.

use pgmoat_tests::front::q;
use pgmoat_tests::{Front, Mode, Raw};

use crate::house::{House, ask, random_after_seed, told};
use crate::rows::{Lives, Row, Stays, rows};

/// While one has made something, the other sees nothing of it: at once, or when the first one lets the connection go.
#[test]
fn a_client_beside_sees_nothing_and_the_first_one_sees_its_own() {
    for mode in Mode::PROXIED.iter().filter(|mode| **mode == Mode::Transaction) {
        let house = House::new(*mode, 1);
        let unseen = |row: &Row| told(&ask(&mut house.client(&[]), &row.look));
        for row in rows(&random_after_seed()).iter().filter(|row| row.lives != Lives::Never) {
            let unseen = unseen(row);
            let (mut first, mut second) = (house.client(row.startup), house.client(&[]));
            if row.lives == Lives::Transaction {
                ask(&mut first, &[q("BEGIN")]);
            }
            ask(&mut first, &row.set);
            second.send(&row.look).unwrap();
            let goes_back = matches!(row.stays, Stays::Pooled | Stays::Forgotten);
            let shared = row.lives == Lives::Session && goes_back;
            if shared {
                assert_eq!(answer(&mut second, &row.look), unseen, "{}", row.name);
            }
            for _ in 0..2 {
                let own = told(&ask(&mut first, &row.look));
                assert!(own != unseen || row.stays == Stays::Forgotten, "{}: its own: {own}", row.name);
                if shared {
                    assert_eq!(told(&ask(&mut second, &row.look)), unseen, "{}", row.name);
                }
            }
            if !shared {
                first.send(&[Front::Terminate]).unwrap();
                assert_eq!(answer(&mut second, &row.look), unseen, "{}", row.name);
            }
        }
    }
}

fn answer(raw: &mut Raw, asked: &[Front]) -> String {
    let ready = asked.iter().filter(|message| matches!(message, Front::Query(_) | Front::Sync)).count();
    told(&raw.read(ready).unwrap())
}
