//! Text search configurations, dictionaries and collations that every server has: what a constant
//! may name where catalogs are not shown (policy 4.6).

/// Whether initdb makes a configuration of that name, in every major.
pub fn is_configuration(name: &str) -> bool {
    name == "simple" || LANGUAGES.contains(&name)
}

/// Whether initdb makes a dictionary of that name, in every major.
pub fn is_dictionary(name: &str) -> bool {
    name == "simple" || name.strip_suffix("_stem").is_some_and(|language| LANGUAGES.contains(&language))
}

/// Whether there is a collation of that name wherever PostgreSQL runs.
pub fn is_collation(name: &str) -> bool {
    matches!(name, "C" | "POSIX" | "default" | "ucs_basic")
}

const LANGUAGES: [&str; 28] = [
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
];
