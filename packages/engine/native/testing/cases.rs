//! How many cases a property test draws.
use proptest::prelude::ProptestConfig;

/// So many cases where `PROPTEST_CASES` does not ask for more.
pub fn at_least(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig { cases: asked.cases.max(cases), ..asked }
}
