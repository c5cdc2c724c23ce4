//! Logging in: what is pinned stays pinned, what cannot be worked with is refused.

use pgmoat_lab::{Cluster, Options, SUPERUSER};
use pgmoat_upstream::{ConnectError, Secret, WeakPasswords, connect};

use super::*;

#[tokio::test]
async fn scram_to_ready_with_the_pins_in_force() {
    let database = lab_database();
    let mut target = target(&database);
    target.settings = settings(&[("application_name", "pgmoat test"), ("app.current_tenant", "acme")]);
    let mut connection = connect(&target).await.unwrap();
    assert!((150_000..190_000).contains(&connection.server_version_num()));
    assert_eq!(connection.parameters()["client_encoding"], "UTF8");
    assert_eq!(connection.parameters()["application_name"], "pgmoat test");
    let pid = connection.backend_pid().to_string();
    assert_eq!(cell(&mut connection, "SELECT pg_backend_pid()").await, pid);
    assert_eq!(cell(&mut connection, "SHOW search_path").await, "\"app\", \"public\"");
    assert_eq!(cell(&mut connection, "SHOW app.current_tenant").await, "acme");
    assert_eq!(cell(&mut connection, "SELECT current_database()").await, database);
    assert_eq!(
        cell(&mut connection, "SHOW server_version_num").await,
        connection.server_version_num().to_string()
    );
}

#[tokio::test]
async fn what_role_and_database_set_does_not_win_over_the_pins() {
    let database = lab_database();
    psql(
        &database,
        &format!(
            "ALTER DATABASE \"{database}\" SET search_path = internal;
             ALTER DATABASE \"{database}\" SET standard_conforming_strings = off;
             ALTER DATABASE \"{database}\" SET client_encoding = 'LATIN1'"
        ),
    );
    let mut connection = connect(&target(&database)).await.unwrap();
    for sql in ["SELECT 1", "RESET ALL", "DISCARD ALL"] {
        run(&mut connection, sql).await;
        assert_eq!(cell(&mut connection, "SHOW search_path").await, "\"app\", \"public\"");
        assert_eq!(cell(&mut connection, "SHOW standard_conforming_strings").await, "on");
        assert_eq!(cell(&mut connection, "SHOW client_encoding").await, "UTF8");
    }
}

#[tokio::test]
async fn the_servers_refusals_come_with_their_sqlstate_and_without_the_password() {
    let mut wrong_password = target("postgres");
    wrong_password.password = Some(Secret::new("wrong-and-secret".to_owned()));
    for (target, sqlstate) in [(wrong_password, "28P01"), (target("no such database"), "3D000")] {
        let error = connect(&target).await.unwrap_err();
        assert_eq!(error.server().and_then(Fields::sqlstate), Some(sqlstate), "{error}");
        let told = format!("{error} {error:?} {target:?}");
        assert!(!told.contains("wrong-and-secret") && !told.contains("service-secret"), "{told}");
    }
    let mut none = target("postgres");
    none.password = None;
    assert!(matches!(connect(&none).await, Err(ConnectError::NoPassword)));
}

#[tokio::test]
async fn other_encodings_are_refused() {
    psql(
        "postgres",
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    let error = connect(&target("latin")).await.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Encoding { server_encoding } if server_encoding == "LATIN1"),
        "{error}"
    );
}

#[tokio::test]
async fn md5_and_clear_text_only_where_they_are_asked_for() {
    let cluster = Cluster::start(Options::default()).unwrap();
    let rules = "host all md5_user 127.0.0.1/32 md5\\nhost all clear_user 127.0.0.1/32 password\\n";
    let sql = format!(
        "SET password_encryption = 'md5'; CREATE ROLE md5_user LOGIN PASSWORD 'm'; RESET password_encryption;
         CREATE ROLE clear_user LOGIN PASSWORD 'c';
         COPY (SELECT 1) TO PROGRAM $$ printf '{rules}' | cat - pg_hba.conf > hba.new && mv hba.new pg_hba.conf $$;
         SELECT pg_reload_conf()"
    );
    cluster.psql("postgres", &sql).unwrap();
    for (user, password) in [("md5_user", "m"), ("clear_user", "c")] {
        let mut target = target_at(&cluster, SUPERUSER, "postgres");
        user.clone_into(&mut target.user);
        target.password = Some(Secret::new(password.to_owned()));
        eventually("the new pg_hba.conf is read", async || {
            matches!(connect(&target).await, Err(ConnectError::AuthenticationRefused { .. }))
        })
        .await;
        target.weak_passwords = WeakPasswords::Allow;
        let mut connection = connect(&target).await.unwrap();
        assert_eq!(cell(&mut connection, "SELECT current_user").await, user);
    }
}
