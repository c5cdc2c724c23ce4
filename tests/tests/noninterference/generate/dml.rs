//! INSERT, UPDATE, DELETE and MERGE.

use super::Gen;
use crate::tree::{Tree, text};

impl Gen {
    pub(super) fn modifying_cte(&mut self) -> Tree {
        let name = self.fresh("dml");
        text(format!("{name} AS (SELECT 1)"))
    }
}
