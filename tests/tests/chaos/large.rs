//! Rows and results of any size in the memory of a small one; long statements; as many parameters as there can be.

use pgmoat_lab::{POLICY_YAML, ProxyConfig};
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Proxied, Raw, Stack, length};

use crate::afterwards::unrestricted;
use crate::half_open::resident_bytes;

/// One row of a gigabyte; and as much in rows of 64 KB. Known faults F8, F13.
#[test]
fn a_row_and_a_result_of_any_size_take_no_memory() {
    let proxied = Stack::get().proxy_with(|config| config.policy = unrestricted()).unwrap();
    let pid = proxied.proxy.pid().unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    raw.wait_at_most(std::time::Duration::from_secs(120)).unwrap();
    raw.query("SELECT 1").unwrap();
    let before = resident_bytes(pid);
    let bytes: u64 = length(64 << 20, 1_000 << 20);
    for sql in [
        format!("SELECT repeat('x', {bytes})"),
        format!("SELECT repeat('x', 65536) FROM generate_series(1, {})", bytes >> 16),
        format!("COPY (SELECT repeat('x', 65536) FROM generate_series(1, {})) TO STDOUT", bytes >> 16),
    ] {
        raw.send(&[q(&sql)]).unwrap();
        let mut sum = 0;
        let mut peak = 0;
        loop {
            let (tag, length) = raw.skim().unwrap().unwrap();
            assert_ne!(tag, b'E', "{sql}");
            if matches!(tag, b'D' | b'd') {
                sum += length;
                peak = peak.max(resident_bytes(pid));
            }
            if tag == b'Z' {
                break;
            }
        }
        assert!(sum >= bytes, "{sum} of {bytes} bytes");
        assert!(peak < before + GROWTH_BYTES_MAX, "{before} bytes before, {peak} during {sql}");
    }
}

/// What a client sends in is as large as what it gets out.
#[test]
fn a_copy_in_of_any_size_takes_no_memory() {
    let proxied = Stack::get().proxy_with(|config| config.policy = unrestricted()).unwrap();
    let pid = proxied.proxy.pid().unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    raw.query("CREATE TEMP TABLE large (x text)").unwrap();
    raw.send(&[q("COPY large FROM STDIN")]).unwrap();
    raw.expect("G").unwrap();
    let before = resident_bytes(pid);
    let data = Front::CopyData(format!("{}\n", "x".repeat(1 << 20)).into_bytes());
    for _ in 0..length(40, 1_000) {
        raw.send(std::slice::from_ref(&data)).unwrap();
    }
    let during = resident_bytes(pid);
    raw.send(&[Front::CopyDone]).unwrap();
    raw.wait_at_most(std::time::Duration::from_secs(120)).unwrap();
    assert_eq!(raw.read(1).unwrap().commands(), [format!("COPY {}", length(40, 1_000))]);
    assert!(during < before + GROWTH_BYTES_MAX, "{before} bytes before, {during} during it");
}

#[test]
fn a_statement_of_a_megabyte_runs_where_the_role_may() {
    let proxied = roomy();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let text = "x".repeat(1_000_000);
    let sql = format!("SELECT length('{text}')");
    let heard = raw.query(&sql).unwrap();
    assert_eq!(heard.rows()[0][0].as_deref(), Some("1000000"), "{heard}");
    let heard = raw.ask(&[p("", &sql), b("", "", &[]), e("", 0), s()]).unwrap();
    assert_eq!(heard.to_string(), "1 2 D C Z(I)");
}

#[test]
fn as_many_parameters_as_there_can_be() {
    const MOST: usize = 65_535;
    let proxied = roomy();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    // No list has more elements than the policy's limit.
    let lists: Vec<String> = (1..=MOST)
        .collect::<Vec<_>>()
        .chunks(4_096)
        .map(|chunk| chunk.iter().map(|number| format!("${number}")).collect::<Vec<_>>().join(","))
        .map(|list| format!("cardinality(ARRAY[{list}]::bigint[])"))
        .collect();
    let sql = format!("SELECT {}", lists.join(" + "));
    raw.wait_at_most(std::time::Duration::from_secs(120)).unwrap();
    let values = (1..=MOST).map(|number| Some(number.to_string().into_bytes())).collect();
    let types = vec![20; MOST];
    let bind = Front::Bind(String::new(), String::new(), values, vec![], vec![]);
    let heard = raw.ask(&[Front::Parse(String::new(), sql, types), bind, e("", 0), s()]).unwrap();
    assert_eq!(heard.to_string(), "1 2 D C Z(I)", "{:?}", heard.error_field(b'M'));
    assert_eq!(heard.rows()[0][0].as_deref(), Some("65535"));
}

/// The app role may send statements of two megabytes.
fn roomy() -> Proxied {
    let limit = "    functions: { preset: standard, allow: [\"app.net_price\"] }\n";
    let policy =
        POLICY_YAML.replacen(limit, &format!("{limit}    limits: {{ statement_bytes: 2097152 }}\n"), 1);
    assert_ne!(policy, POLICY_YAML);
    Stack::get().proxy_with(|config: &mut ProxyConfig| config.policy = policy).unwrap()
}

/// Buffers of both sides, and what the allocator keeps of them.
const GROWTH_BYTES_MAX: u64 = 48 << 20;
