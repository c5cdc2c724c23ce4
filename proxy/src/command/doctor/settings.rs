//! Settings that are legal and weak. (What a file's own lints say is a warning when it is loaded.)

use pgmoat_policy::policy::Role;
use pgmoat_policy::{ErrorPosture, Policy};
use pgmoat_upstream::Address;

use super::report::Report;
use crate::config::{ClientTlsMode, Config, Listen, Tls};
use crate::shared::AuditedParameters;

/// Looks at both files.
pub(super) fn look(config: &Config, policy: &Policy, report: &mut Report) {
    encryption(config, report);
    if config.audit.audited.parameters == AuditedParameters::Full {
        report.warning("audit", "bound values are written as they are: the log is as secret as the data");
    }
    if config.audit.key.is_none() {
        report.advice(
            "audit",
            "the log's chain has no key: whoever can write the file can make a chain that is whole",
            "give audit.key, or note heads elsewhere (audit verify --head)",
        );
    }
    for database in &config.databases {
        let about = format!("database {}", database.name);
        let upstream = &database.upstream;
        for host in &upstream.hosts {
            if upstream.tls == Tls::Disable && !is_near(host) {
                report.warning(&about, format!("the way to {host} is plain TCP"));
            }
        }
        if upstream.weak_passwords {
            report.warning(&about, "a server that asks for the password in clear text gets it");
        }
        if upstream.password.is_none() {
            report.warning(
                &about,
                "the server trusts the proxy's address: everything that runs there is trusted",
            );
        }
    }
    if policy.errors() == ErrorPosture::Pass {
        report.warning("policy", "tenancy.errors: pass hands other tenants' values out in error messages");
    }
    for role in policy.roles() {
        cap(role, report);
    }
}

/// Whether the way there leaves the machine.
fn is_near(host: &Address) -> bool {
    match host {
        Address::Unix { .. } => true,
        Address::Tcp { host, .. } => {
            host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
    }
}

/// What clients say on the way from another machine.
fn encryption(config: &Config, report: &mut Report) {
    let far = config.listen.iter().find(|listen| match listen {
        Listen::Tcp(address) => !address.ip().is_loopback(),
        Listen::Unix(_) => false,
    });
    let Some(far) = far else { return };
    let help =
        "give tls with mode: require, or listen on a loopback address, behind something that speaks TLS";
    match &config.tls {
        None => {
            let text = format!("clients connect to {far} without TLS: whoever is in between reads along");
            report.advice("listen", text, help);
        }
        Some(tls) if tls.mode == ClientTlsMode::Allow => {
            let text = format!("clients may connect to {far} without TLS: whoever is in between reads along");
            report.advice("tls", text, help);
        }
        Some(_) => {}
    }
}

/// With enough rows, what is masked can be told from what is not.
fn cap(role: &Role, report: &mut Report) {
    let about = format!("role {}", role.name);
    match role.rows {
        _ if !role.has_masks() => {}
        None => report.advice(
            &about,
            "it sees masked columns, and as many rows as it likes",
            format!("limits: {{ rows: {{ max: {ROWS_WITH_MASKS}, over: cut }} }}"),
        ),
        Some(cap) if cap.max > ROWS_WITH_MASKS => report.advice(
            &about,
            format!("it sees masked columns, and {} rows a statement", cap.max),
            format!("a cap of at most {ROWS_WITH_MASKS} rows"),
        ),
        Some(_) => {}
    }
}

/// Above it, statistics over many rows undo masks.
const ROWS_WITH_MASKS: u64 = 500;
