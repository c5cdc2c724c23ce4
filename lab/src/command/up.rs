//! `up`: PostgreSQL with the lab's data, pgmoat before it, two statements to see it work.

use std::env;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pgmoat_lab::{Cluster, Home, LabError, Options, Proxy, ProxyConfig, SUPERUSER};

use super::site::{POLL, Site, io};
use super::{hints, say, showing};

/// Runs the lab until Ctrl-C, `down`, or the proxy's end. If it is up already, says so.
pub(crate) fn foreground(site: &Site, pgmoat: &Path) -> Result<ExitCode, LabError> {
    let Some(_held) = site.hold()? else {
        say("lab: it is up already");
        say(&hints::hints(site.port_of_another()?, pgmoat));
        return Ok(ExitCode::SUCCESS);
    };
    let port = wanted_port()?;
    let cluster = seeded_cluster(site)?;
    let mut proxy = start_proxy(site, pgmoat, &cluster, port)?;
    showing::show(cluster.postgres(), &proxy)?;
    say(&hints::hints(port, pgmoat));
    say(&format!("PostgreSQL itself, for comparison: {}", cluster.dsn(SUPERUSER, DATABASE)));
    site.ready(port)?;
    while !site.is_stop_requested() {
        if let Some(status) = proxy.wait(POLL) {
            return Err(LabError::NotReady { program: format!("pgmoat ({status})"), log: proxy.log() });
        }
    }
    proxy.terminate()?;
    let _ = proxy.wait(DRAIN_LIMIT); // what is left then is killed
    Ok(ExitCode::SUCCESS)
}

/// Starts [`foreground`] as a process of its own, and returns when it is ready.
pub(crate) fn detached(site: &Site, pgmoat: &Path) -> Result<ExitCode, LabError> {
    let Some(held) = site.hold()? else { return foreground(site, pgmoat) };
    drop(held); // the other process takes it
    let starting = |source| io("start the lab", source);
    let log = File::create(site.log()).map_err(starting)?;
    let mut lab = Command::new(env::current_exe().map_err(starting)?)
        .arg("up")
        .args([site.run().parent().unwrap_or(site.run()), pgmoat])
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(starting)?)
        .stderr(log)
        .process_group(0)
        .spawn()
        .map_err(starting)?;
    let ended = loop {
        match lab.try_wait().map_err(starting)? {
            Some(status) => break !status.success(),
            None if site.port().is_some() => break false,
            None => sleep(POLL),
        }
    };
    say(fs::read_to_string(site.log()).unwrap_or_default().trim_end());
    Ok(if ended { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The cluster in `lab/run`, loaded at the first start.
fn seeded_cluster(site: &Site) -> Result<Cluster, LabError> {
    let home = Home::Kept(site.run().join("postgres"));
    say("lab: starting PostgreSQL");
    let cluster = Cluster::start(Options { home, ..Options::default() })?;
    if !cluster.has_database(DATABASE)? {
        say("lab: loading schema.sql and data.sql, and pgbench's tables");
        cluster.create_lab_database(DATABASE)?;
        cluster.pgbench_init(DATABASE, PGBENCH_SCALE)?;
    }
    cluster.seal()?;
    let (major, port, folder) = (cluster.postgres().major(), cluster.port(), cluster.folder().display());
    say(&format!("lab: PostgreSQL {major} on 127.0.0.1:{port}, data in {folder}"));
    Ok(cluster)
}

/// The proxy, with its files in `lab/run` and the policy in `lab/policy.yaml`, where people edit it.
fn start_proxy(site: &Site, pgmoat: &Path, cluster: &Cluster, port: u16) -> Result<Proxy, LabError> {
    let mut config = ProxyConfig::lab(cluster, DATABASE);
    config.listen = format!("127.0.0.1:{port}");
    let yaml = config.yaml("../policy.yaml");
    fs::write(site.run().join("pgmoat.yaml"), yaml)
        .map_err(|source| io("write lab/run/pgmoat.yaml", source))?;
    let proxy = Proxy::start_in(pgmoat, site.run(), &config.env)?;
    say(&format!("lab: pgmoat on 127.0.0.1:{}", proxy.port()));
    Ok(proxy)
}

/// The port for clients: `PGMOAT_LAB_PORT`, or 6432. A lab that was interrupted a moment ago may still be leaving it.
fn wanted_port() -> Result<u16, LabError> {
    let port = match env::var(PORT_VARIABLE) {
        Ok(text) => {
            text.parse().map_err(|_| LabError::Unusable(format!("{PORT_VARIABLE} is no port: {text}")))?
        }
        Err(_) => DEFAULT_PORT,
    };
    let started = Instant::now();
    while let Err(source) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        if started.elapsed() > DRAIN_LIMIT {
            return Err(io(&format!("listen on port {port} (set {PORT_VARIABLE} to take another)"), source));
        }
        sleep(POLL);
    }
    Ok(port)
}

/// The database's name, for clients and upstream.
pub(crate) const DATABASE: &str = "lab";
const PORT_VARIABLE: &str = "PGMOAT_LAB_PORT";
const DEFAULT_PORT: u16 = 6432;
const PGBENCH_SCALE: u32 = 1;
const DRAIN_LIMIT: Duration = Duration::from_secs(10);
