use super::*;

fn changes(variables: &mut Variables) -> Vec<(String, Option<String>)> {
    let text = |value: Box<str>| value.into_string();
    variables.give_missing().into_iter().map(|(name, value)| (text(name), value.map(text))).collect()
}

fn set(variables: &mut Variables, name: &str, value: Option<&str>, local: bool) {
    assert_eq!(variables.set(name, value, local), Ok(()));
}

fn following<const N: usize>(initial: [(&str, &str); N]) -> Variables {
    let mut variables = Variables::new(initial);
    variables.follow_every();
    variables
}

fn change(name: &str, value: Option<&str>) -> (String, Option<String>) {
    (name.to_owned(), value.map(str::to_owned))
}

#[test]
fn another_connection_is_given_what_it_lacks_and_loses_what_is_anothers() {
    let mut variables = following([("TimeZone", "UTC")]);
    variables.attach(Values::default());
    assert_eq!(changes(&mut variables), [change("timezone", Some("UTC"))]);
    set(&mut variables, "DateStyle", Some("German"), false);
    variables.detach();
    let there = [("timezone", "UTC"), ("work_mem", "1MB")].map(|(name, value)| (name.into(), value.into()));
    variables.attach(Arc::new(there.into()));
    assert_eq!(changes(&mut variables), [change("work_mem", None), change("datestyle", Some("German, DMY"))]);
    assert_eq!(changes(&mut variables), []);
}

#[test]
fn a_reset_goes_back_to_the_start_up_value_which_the_server_does_not_know() {
    let mut variables = following([("timezone", "UTC")]);
    variables.attach(Values::default());
    variables.give_missing();
    set(&mut variables, "timezone", Some("Asia/Tokyo"), false);
    set(&mut variables, "timezone", None, false);
    variables.commit();
    assert_eq!(changes(&mut variables), [change("timezone", Some("UTC"))]);
}

#[test]
fn a_reset_that_is_undone_lets_nothing_go() {
    let mut variables = following([("timezone", "UTC")]);
    assert!(!variables.lets_go(), "nothing is missing without a connection");
    variables.attach(Values::default());
    variables.give_missing();
    set(&mut variables, "datestyle", Some("German"), false);
    variables.commit();
    variables.reset_all();
    assert!(variables.lacks("TimeZone") && variables.lets_go());
    variables.roll_back();
    assert!(!variables.lets_go());
    assert_eq!(variables.wanted("datestyle"), Some("German, DMY"));
    variables.reset_all();
    variables.savepoint("s").unwrap_or_default();
    assert_eq!(variables.roll_back_to(Some("s")), Ok(()));
    assert!(variables.lacks("timezone"), "the RESET stands before the savepoint");
    set(&mut variables, "timezone", Some("Asia/Tokyo"), false);
    variables.commit();
    assert_eq!(changes(&mut variables), [], "what was set since is left alone");
    assert!(variables.detach().contains_key("timezone"));
    assert!(!variables.lets_go());
}

#[test]
fn without_a_change_of_connection_start_up_settings_alone_are_followed() {
    let mut variables = Variables::new([("timezone", "UTC")]);
    variables.attach(Values::default());
    variables.give_missing();
    set(&mut variables, "datestyle", Some("German"), false);
    set(&mut variables, "TimeZone", Some("Asia/Tokyo"), false);
    assert_eq!((variables.wanted("datestyle"), variables.wanted("timezone")), (None, Some("Asia/Tokyo")));
}

#[test]
fn savepoints_and_rollbacks_take_settings_back() {
    let mut variables = following([]);
    variables.attach(Values::default());
    set(&mut variables, "a", Some("1"), false);
    variables.commit();
    variables.savepoint("s").unwrap_or_default();
    set(&mut variables, "a", Some("2"), false);
    variables.savepoint("t").unwrap_or_default();
    set(&mut variables, "a", Some("3"), true);
    assert_eq!(variables.roll_back_to(Some("t")), Ok(()));
    assert_eq!(variables.now.wanted.get("a").map(|value| &**value), Some("2"));
    assert!(variables.now.local.is_empty());
    assert_eq!(variables.roll_back_to(Some("s")), Ok(()));
    assert_eq!(variables.release(Some("t")), Err(Lost));
    assert_eq!(variables.now.wanted.get("a").map(|value| &**value), Some("1"));
    set(&mut variables, "a", Some("4"), false);
    variables.roll_back();
    assert_eq!(variables.now.there.get("a").map(|value| &**value), Some("1"));
}

#[test]
fn an_error_goes_back_to_the_last_savepoint_and_the_end_to_the_beginning() {
    let mut variables = following([]);
    variables.attach(Values::default());
    set(&mut variables, "a", Some("1"), false);
    variables.commit();
    set(&mut variables, "a", Some("2"), false);
    variables.savepoint("s").unwrap_or_default();
    set(&mut variables, "a", Some("3"), false);
    variables.fail();
    assert_eq!(variables.wanted("a"), Some("2"));
    assert_eq!(variables.roll_back_to(Some("s")), Ok(()));
    assert_eq!(variables.wanted("a"), Some("2"));
    variables.roll_back();
    set(&mut variables, "a", Some("4"), false);
    variables.fail();
    assert_eq!(variables.wanted("a"), Some("1"));
}

#[test]
fn the_meaning_of_a_text_moves_with_what_it_may_depend_on() {
    let mut variables = following([]);
    let before = variables.meaning();
    set(&mut variables, "application_name", Some("x"), false);
    assert_eq!(variables.meaning(), before);
    set(&mut variables, "DateStyle", Some("German"), true);
    assert_ne!(variables.meaning(), before);
    variables.roll_back();
    assert_eq!(variables.meaning(), before);
    variables.begin(&Lasting { settings: vec![Assignment::ResetAll], ..Lasting::default() });
    assert_eq!(variables.meaning(), None);
}

#[test]
fn a_half_of_a_date_style_does_not_come_with_the_other_half_of_anothers() {
    let mut variables = following([("DateStyle", "ISO")]);
    let there: Values = Arc::new([("datestyle".into(), "SQL, DMY".into())].into());
    variables.attach(Arc::clone(&there));
    assert_eq!(changes(&mut variables), [change("datestyle", None), change("datestyle", Some("ISO"))]);
    set(&mut variables, "DateStyle", Some("SQL, YMD"), false);
    set(&mut variables, "DateStyle", Some("postgres"), false);
    variables.commit();
    variables.detach();
    variables.attach(there);
    let whole = change("datestyle", Some("Postgres, YMD"));
    assert_eq!(changes(&mut variables), [change("datestyle", None), whole]);
    // On top of what is set for the transaction alone.
    set(&mut variables, "DateStyle", Some("German"), true);
    set(&mut variables, "DateStyle", Some("ISO"), false);
    variables.commit();
    assert_eq!(variables.wanted("datestyle"), Some("ISO, DMY"));
    assert_eq!(variables.set("DateStyle", Some("default"), false), Err(Lost));
}

#[test]
fn a_connection_is_not_handed_on_with_what_would_end_the_next_ones_set_up() {
    let by = |name: &str, value: &str| Variables::new([(name, value)]).leaving();
    for value in ["0", "1000", "1000ms", "1s", "2 min", "1h", " 5000 "] {
        assert_eq!(by("statement_timeout", value), Leaving::AsItIs, "{value}");
    }
    for value in ["1", "999", "900us", "0.5s", "0.9", "1.5h", "", "x", "-1", "1 furlong"] {
        assert_eq!(by("statement_timeout", value), Leaving::Reset, "{value}");
        assert_eq!(by("Transaction_Timeout", value), Leaving::Reset, "{value}");
    }
    assert_eq!(by("lock_timeout", "1"), Leaving::AsItIs);
    assert_eq!(by("default_transaction_deferrable", "off"), Leaving::AsItIs);
    assert_eq!(by("default_transaction_deferrable", "on"), Leaving::Reset);
}
