//! What a judgement says beside its verdict: kinds, effects, names, obligations, hints
//! (contracts 1), and the statements without rows (policy 4.3, 4.7).

use crate::lab::{Lab, on_large_stack, only};
use pgmoat_policy::{
    Effect, ErrorPosture, Kind, Mode, NameSpace, SettingEffect, SettingValue, TextArgument,
    TransactionEffect, Verdict,
};

#[test]
fn kinds_settings_and_letting_go() {
    on_large_stack(|| {
        let lab = Lab::new();
        lab.expect(
            "app:acme",
            &[
                ("ok", ""),
                ("ok", ";-- nothing"),
                ("ok", "BEGIN; SAVEPOINT a; ROLLBACK TO a; RELEASE a; COMMIT"),
                ("ok", "SET TIME ZONE 'UTC'; SET LOCAL datestyle = ISO, MDY; SHOW timezone; RESET datestyle"),
                (
                    "ok",
                    "RESET ALL; DISCARD ALL; RESET ROLE; SET ROLE NONE; SET SESSION AUTHORIZATION DEFAULT",
                ),
                ("ok", "UNLISTEN *; CLOSE ALL; DEALLOCATE ALL; RESET search_path"),
                (
                    "ok",
                    "SET search_path = app, public; SET NAMES 'UTF8'; SET standard_conforming_strings = on",
                ),
                ("setting_not_allowed", "SET search_path = public, app"),
                ("setting_not_allowed", "SET search_path = 'app, public'"),
                ("setting_not_allowed", "SET NAMES 'LATIN1'"),
                ("setting_not_allowed", "SET work_mem = '1GB'"),
                ("setting_not_allowed", "SET app.tenant = 'x'"),
                ("setting_not_allowed", "RESET work_mem"),
                ("setting_not_allowed", "SET ROLE postgres"),
                ("setting_not_allowed", "SHOW ALL"),
                ("setting_not_allowed", "SHOW hba_file"),
                ("statement_not_allowed", "PREPARE TRANSACTION 'x'"),
                ("statement_not_allowed", "CREATE TABLE app.x (a int)"),
                ("statement_not_allowed", "TRUNCATE app.orders"),
                ("statement_not_allowed", "LOCK TABLE app.orders"),
                ("statement_not_allowed", "LISTEN x"),
                ("statement_not_allowed", "DO $$ BEGIN END $$"),
                ("statement_not_allowed", "CALL app.purge_orders()"),
                ("statement_not_allowed", "EXPLAIN SELECT 1"),
                ("statement_not_allowed", "COPY app.orders TO '/tmp/x'"),
                ("statement_not_allowed", "SELECT 1 INTO app.x"),
                ("statement_not_allowed", "COPY app.plans FROM STDIN"),
                ("syntax_error", "SELEC 1"),
            ],
        );
        lab.expect(
            "ops",
            &[
                ("ok", "SELECT count(*) FROM app.orders"),
                ("ok", "EXPLAIN ANALYZE SELECT count(*) FROM app.orders"),
                ("statement_not_allowed", "EXPLAIN ANALYZE DELETE FROM app.orders"),
                ("statement_not_allowed", "WITH d AS (DELETE FROM app.orders RETURNING 1) SELECT 1"),
                ("statement_not_allowed", "SELECT * FROM app.orders FOR SHARE"),
                ("relation_not_allowed", "SELECT * FROM internal.api_keys"),
                ("setting_not_allowed", "SET TRANSACTION SNAPSHOT 'x'"),
            ],
        );
        lab.expect(
            "analyst:acme",
            &[
                ("ok", "SET statement_timeout = '5s'"),
                ("setting_not_allowed", "SET statement_timeout = 5001"),
                ("setting_not_allowed", "SET statement_timeout = 0"),
                ("setting_not_allowed", "SET statement_timeout = '100us'"),
                ("setting_not_allowed", "SELECT set_config('statement_timeout', '499us', false)"),
            ],
        );
        lab.expect("nobody", &[("statement_not_allowed", "SELECT 1")]);
        lab.expect("app", &[("statement_not_allowed", "SELECT 1")]);
        lab.expect("ops:acme", &[("statement_not_allowed", "SELECT 1")]);
    });
}

#[test]
fn effects_and_names() {
    on_large_stack(|| {
        let lab = Lab::new();
        let of = |sql: &str| {
            let judgement = lab.judge("app:acme", Mode::Simple, sql);
            let judged = judgement.statements.last().cloned().unwrap();
            (judged.kind, judged.effect, judged.names)
        };
        assert_eq!(of("COMMIT AND CHAIN").1, Effect::Transaction(TransactionEffect::Commit));
        assert_eq!(of("SELECT 1").0, Some(Kind::Select));
        assert_eq!(of("").0, None);
        assert_eq!(
            of("SET LOCAL DateStyle = ISO, MDY").1,
            settings(&[("datestyle", true, SettingValue::Text("iso, mdy".into()))])
        );
        assert_eq!(
            of("SELECT set_config('TimeZone', 'UTC', true)").1,
            settings(&[("timezone", true, SettingValue::Text("UTC".into()))])
        );
        assert_eq!(
            of("SELECT set_config('TimeZone', 'UTC', true), set_config('Application_Name', 'x', false)").1,
            settings(&[
                ("timezone", true, SettingValue::Text("UTC".into())),
                ("application_name", false, SettingValue::Text("x".into())),
            ])
        );
        assert_eq!(
            of("SELECT set_config('TimeZone', NULL, false)").1,
            settings(&[("timezone", false, SettingValue::Default)])
        );
        let sql = "PREPARE \"P x\" (text, int) AS /* as */ SELECT * FROM app.orders WHERE tenant_id = $1";
        let (kind, effect, names) = of(sql);
        assert_eq!(kind, Some(Kind::Prepare));
        let Effect::Prepare { name, body, declared } = effect else { unreachable!() };
        assert_eq!(
            (&*name, &sql[body], declared.as_slice()),
            ("P x", "SELECT * FROM app.orders WHERE tenant_id = $1", &[25, 23][..])
        );
        let [used] = names.as_slice() else { unreachable!() };
        assert_eq!(
            (&sql[used.span.clone()], used.space, &*used.name),
            ("\"P x\"", NameSpace::Statement, "P x")
        );
        let (_, effect, names) = of("DECLARE c CURSOR WITH HOLD FOR SELECT 1");
        assert_eq!(effect, Effect::Declare { name: "c".into(), hold: true });
        assert_eq!(names.len(), 1);
        assert_eq!(of("COPY (SELECT 1) TO STDOUT").1, Effect::CopyOut { binary: false });
        assert_eq!(
            of("DECLARE c CURSOR FOR SELECT 1; FETCH ALL FROM c").1,
            Effect::Fetch { name: "c".into() }
        );
    });
}

fn settings(settings: &[(&str, bool, SettingValue)]) -> Effect {
    let effect = |(name, local, value): &(&str, bool, SettingValue)| SettingEffect {
        name: TextArgument::Constant((*name).into()),
        local: Some(*local),
        value: value.clone(),
    };
    Effect::Settings(settings.iter().map(effect).collect())
}

#[test]
fn obligations_follow_the_role() {
    on_large_stack(|| {
        let lab = Lab::new();
        let errors = |who: &str| match &only(&lab.judge(who, Mode::Simple, "SELECT 1")).verdict {
            Verdict::Allow(obligations) => (obligations.errors, obligations.rows.is_some()),
            Verdict::Deny(denials) => unreachable!("{denials:?}"),
        };
        assert_eq!(errors("app:acme"), (ErrorPosture::Redact, false));
        assert_eq!(errors("analyst:acme"), (ErrorPosture::Redact, true));
        assert_eq!(errors("ops"), (ErrorPosture::Pass, false));
    });
}

#[test]
fn all_violations_in_order_with_the_smallest_change() {
    on_large_stack(|| {
        let lab = Lab::new();
        let sql = "SELECT pg_sleep(1), o.nope FROM app.orders \"O p\" JOIN app.customers c ON c.id = \"O p\".customer_id, internal.api_keys";
        let judgement = lab.judge("app:acme", Mode::Simple, sql);
        let Verdict::Deny(denials) = &only(&judgement).verdict else { unreachable!() };
        let codes: Vec<String> = denials.all().iter().map(|denial| denial.code.to_string()).collect();
        assert_eq!(
            codes,
            [
                "relation_unknown",
                "relation_not_allowed",
                "function_not_allowed",
                "tenant_unproven",
                "tenant_unproven"
            ]
        );
        let hints: Vec<&str> = denials.all().iter().filter_map(|denial| denial.hint.as_deref()).collect();
        assert!(hints[0].starts_with("add \"\"O p\".tenant_id = 'acme'\" to the WHERE clause"), "{hints:?}");
        assert!(hints[1].starts_with("add \"c.tenant_id = 'acme'\" to the WHERE clause"), "{hints:?}");
        let last = denials.all().last().unwrap();
        assert_eq!(last.object.table.as_deref(), Some("customers"));
        assert_eq!(last.at.map(|at| &sql[at as usize..at as usize + 13]), Some("app.customers"));
        let denial = lab
            .denial(
                "app:acme",
                "SELECT 1 FROM app.plans p LEFT JOIN billing.invoices i ON i.amount = p.price_cents",
            )
            .unwrap();
        let hint = denial.hint.unwrap();
        assert!(hint.starts_with("add \"i.account_no = 42\" to the ON condition of its join"), "{hint}");
    });
}

#[test]
fn a_message_is_refused_for_its_first_reason() {
    on_large_stack(|| {
        let lab = Lab::new();
        let sql = "SELECT 1; SELECT * FROM app.orders; DROP TABLE app.orders";
        let judgement = lab.judge("app:acme", Mode::Simple, sql);
        let (number, denial) = judgement.denial().unwrap();
        assert_eq!((number, denial.code.to_string().as_str()), (3, "statement_not_allowed"));
        assert_eq!(judgement.statements.len(), 3);
        let several = lab.judge("app:acme", Mode::Extended { declared: &[] }, "SELECT 1; SELECT 2");
        assert_eq!(several.denial().map(|(_, denial)| denial.sqlstate.0), Some("42601"));
    });
}

#[test]
fn what_a_view_reads_out_of_reach_is_not_named() {
    on_large_stack(|| {
        let reader = "
roles:
  reader:
    tenant: required
    statements: [select]
    relations: { allow: [app.global_totals] }
    functions: { preset: standard }
    system_catalogs: deny
";
        let policy = include_str!("../../../lab/policy.yaml").replacen("\nroles:\n", reader, 1);
        let denial =
            Lab::with_policy(&policy).denial("reader:acme", "SELECT * FROM app.global_totals").unwrap();
        assert_eq!(denial.code.to_string(), "tenant_unproven");
        assert_eq!(denial.message, "what a view reads is not restricted to the tenant's rows");
        assert!(denial.hint.is_none() && denial.object == pgmoat_policy::Object::default(), "{denial:?}");
        let named = Lab::new().denial("app:acme", "SELECT * FROM app.global_totals").unwrap();
        assert!(named.message.contains("orders"), "{named:?}");
    });
}
