//! One statement by hand: `PGMOAT_SQL='SELECT …'` shows the ruling and the three worlds' answers.

use std::io;

use pgmoat_lab::Cluster;

use crate::client::{Effect, Worlds};
use crate::judge::{Court, Ruling};
use crate::tree::Written;
use crate::verdict::compare;
use crate::worlds::{self, Universe};

pub(crate) fn ask(cluster: &Cluster, court: &Court, sql: &str) -> io::Result<()> {
    let written = Written { sql: sql.to_owned(), values: Vec::new() };
    let reads = sql.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"));
    for universe in Universe::ALL {
        worlds::copy(cluster, universe, 0);
        let mut worlds = Worlds::connect(cluster, universe, 0, "5s")?;
        let effect = match (reads, sql.contains("FOR UPDATE") || sql.contains("FOR SHARE")) {
            (false, _) => Effect::Writes,
            (true, true) => Effect::Locks,
            (true, false) => Effect::Reads,
        };
        let answers = worlds.run(&[(&written, effect)])?.pop().unwrap();
        let before = [0, 1, 2].map(|world| worlds.others_before(world));
        let ruling = court.rule(&written, universe);
        println!("{universe:?}: {ruling:?}, {:?}", compare(&answers, &before));
        if ruling != Ruling::Allowed {
            println!("    {}", court.reason(&written, universe));
            #[cfg(feature = "mutants")]
            println!("    allowed by {:?}", crate::mutants::allowing(court, &written, universe));
        }
        for answer in &answers {
            println!("    {}", answer.brief());
        }
    }
    Ok(())
}
