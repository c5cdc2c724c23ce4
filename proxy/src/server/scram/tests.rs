#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};

use rustls_pki_types::pem::PemObject as _;

use super::*;

/// `postgres_protocol`'s own verifier of the password "secret".
fn verifier() -> Verifier {
    Verifier::parse(&postgres_protocol::password::scram_sha_256(b"secret")).unwrap()
}

fn initial(mechanism: &str, message: &[u8]) -> Vec<u8> {
    let mut body = mechanism.as_bytes().to_vec();
    body.push(0);
    body.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend_from_slice(message);
    body
}

fn log_in(known: &[Verifier], password: &[u8]) -> Result<(), LoginError> {
    log_in_if(known, true, password)
}

fn log_in_if(known: &[Verifier], welcome: bool, password: &[u8]) -> Result<(), LoginError> {
    let mut client = ScramSha256::new(password, ChannelBinding::unsupported());
    let exchange = Exchange::new("ann", known, welcome, &Mock::new([7; 32], Form::default()));
    let (challenge, challenged) = exchange.first(&initial(MECHANISM, client.message()), None)?;
    client.update(challenge.as_bytes()).unwrap();
    let last = challenged.last(client.message())?;
    client.finish(last.as_bytes()).unwrap();
    Ok(())
}

#[test]
fn the_right_password_logs_in_and_proves_the_server_too() {
    assert_eq!(log_in(&[verifier()], b"secret"), Ok(()));
}

#[test]
fn a_wrong_password_and_an_unknown_user_fail_alike() {
    assert_eq!(log_in(&[verifier()], b"wrong"), Err(LoginError::Rejected));
    assert_eq!(log_in(&[], b"secret"), Err(LoginError::Rejected));
}

#[test]
fn each_of_two_passwords_is_right_and_no_third() {
    let old = verifier();
    let new = Verifier::parse(&old.beside("renewed")).unwrap();
    assert!(old.has_challenge_of(&new));
    for both in [[new.clone(), old.clone()], [old.clone(), new]] {
        assert_eq!(log_in(&both, b"secret"), Ok(()));
        assert_eq!(log_in(&both, b"renewed"), Ok(()));
        assert_eq!(log_in(&both, b"third"), Err(LoginError::Rejected));
        assert_eq!(log_in(&both, b""), Err(LoginError::Rejected));
    }
    assert!(!old.has_challenge_of(&verifier()), "another salt");
}

#[test]
fn no_password_is_right_for_who_is_not_welcome() {
    assert_eq!(log_in_if(&[verifier()], false, b"secret"), Err(LoginError::Rejected));
    assert_eq!(log_in_if(&[verifier()], false, b"wrong"), Err(LoginError::Rejected));
}

#[test]
fn an_unknown_user_sees_the_same_salt_each_time_and_another_than_its_neighbour() {
    let mock = Mock::new([7; 32], Form::default());
    assert_eq!(mock.verifier("ann").salt, mock.verifier("ann").salt);
    assert_ne!(mock.verifier("ann").salt, mock.verifier("bob").salt);
    assert_ne!(mock.verifier("ann").salt, Mock::new([8; 32], Form::default()).verifier("ann").salt);
    for salt_bytes in [12, 16, 32, 33, 64, 256] {
        let mock = Mock::new([7; 32], Form { iterations: 4096, salt_bytes });
        assert_eq!(mock.verifier("ann").form(), Form { iterations: 4096, salt_bytes });
    }
}

#[test]
fn other_mechanisms_and_channel_binding_are_refused() {
    let first = |body: &[u8]| {
        Exchange::new("ann", &[], true, &Mock::new([7; 32], Form::default())).first(body, None).map(|_| ())
    };
    assert!(first(&initial(MECHANISM, b"n,,n=,r=abc")).is_ok());
    assert!(first(&initial("SCRAM-SHA-256-PLUS", b"p=tls-server-end-point,,n=,r=abc")).is_err());
    assert!(first(&initial("SCRAM-SHA-256-PLUS", b"n,,n=,r=abc")).is_err());
    assert!(first(&initial(MECHANISM, b"p=tls-server-end-point,,n=,r=abc")).is_err());
    assert!(first(&initial("SCRAM-SHA-1", b"n,,n=,r=abc")).is_err());
}

#[test]
fn every_cut_of_the_first_message_is_refused() {
    let whole = initial(MECHANISM, b"n,,n=,r=abc");
    for end in 0..whole.len() {
        let exchange = Exchange::new("ann", &[], true, &Mock::new([7; 32], Form::default()));
        assert!(exchange.first(whole.get(..end).unwrap(), None).is_err(), "cut at {end}");
    }
}

#[test]
fn verifiers_are_read_strictly_and_debug_hides_them() {
    let text = postgres_protocol::password::scram_sha_256(b"secret");
    let debug = format!("{:?}", Verifier::parse(&text).unwrap());
    assert_eq!(debug, "Verifier { iterations: 4096, .. }");
    for bad in ["", "md5abc", "SCRAM-SHA-256$4096:salt", "SCRAM-SHA-256$x:AAAA$AAAA:AAAA"] {
        assert!(Verifier::parse(bad).is_none(), "{bad}");
    }
}

/// A server that binds to a certificate which is made of its algorithm alone.
fn bound() -> ScramServerAuth {
    let mut server = ScramServerAuth::new();
    server.configure_certificate(include_bytes!("certificate.pem")).unwrap();
    server
}

fn hash() -> Vec<u8> {
    let certificate =
        rustls_pki_types::CertificateDer::from_pem_slice(include_bytes!("certificate.pem")).unwrap();
    pgmoat_upstream::tls_server_end_point(&certificate).unwrap()
}

fn log_in_over(binding: ChannelBinding, mechanism: &str) -> Result<&'static str, LoginError> {
    let mut client = ScramSha256::new(b"secret", binding);
    let exchange = Exchange::new("ann", &[verifier()], true, &Mock::new([7; 32], Form::default()));
    let (challenge, challenged) = exchange.first(&initial(mechanism, client.message()), Some(bound()))?;
    client.update(challenge.as_bytes()).unwrap();
    let method = challenged.method();
    let last = challenged.last(client.message())?;
    client.finish(last.as_bytes()).unwrap();
    Ok(method)
}

#[test]
fn the_channel_is_bound_to_or_the_login_fails() {
    let right = || ChannelBinding::tls_server_end_point(hash());
    assert_eq!(log_in_over(right(), MECHANISM_PLUS), Ok("scram-sha-256-plus"));
    let elsewhere = ChannelBinding::tls_server_end_point(vec![7; 32]);
    assert_eq!(log_in_over(elsewhere, MECHANISM_PLUS), Err(LoginError::Unbound));
    assert_eq!(log_in_over(ChannelBinding::unrequested(), MECHANISM), Err(LoginError::Downgrade));
    assert_eq!(log_in_over(ChannelBinding::unsupported(), MECHANISM), Ok("scram-sha-256"));
    for (binding, mechanism) in [
        (right(), MECHANISM),
        (ChannelBinding::unsupported(), MECHANISM_PLUS),
        (ChannelBinding::unrequested(), MECHANISM_PLUS),
    ] {
        assert!(matches!(log_in_over(binding, mechanism), Err(LoginError::Malformed(_))), "{mechanism}");
    }
}

#[test]
fn made_up_users_keep_their_salt_over_a_restart() {
    let users = [verifier(), verifier()];
    let key = || Mock::key(users.iter());
    assert_eq!(
        Mock::new(*key(), Form::default()).verifier("ann").salt,
        Mock::new(*key(), Form::default()).verifier("ann").salt
    );
    assert_ne!(*Mock::key(users.iter().take(1)), *key(), "one user's secret is not enough");
}

/// Known faults I3, as the server: whatever is changed in the right messages, nobody gets in and nothing breaks. (A bit
/// of the base64 of the proof that stands for nothing may change: the library refuses it.)
#[test]
fn no_mutation_of_the_right_messages_logs_in() {
    // One round instead of 4,096: the client's work is the same for each try.
    let verifier = Verifier::parse(&one_round("secret")).unwrap();
    let mock = Mock::new([7; 32], Form { iterations: 1, salt_bytes: 40 });
    let mut seed = 0x5eed_0005_u64;
    let mut dice = |sides: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % sides
    };
    for round in 0..MUTATIONS {
        let plus = round % 2 == 0;
        let binding =
            if plus { ChannelBinding::tls_server_end_point(hash()) } else { ChannelBinding::unsupported() };
        let mechanism = if plus { MECHANISM_PLUS } else { MECHANISM };
        let mut client = ScramSha256::new(b"secret", binding);
        let mut first = initial(mechanism, client.message());
        let spoiled_first = dice(3) == 0;
        if spoiled_first {
            mutate(&mut first, &mut dice);
        }
        let exchange = Exchange::new("ann", std::slice::from_ref(&verifier), true, &mock);
        let Ok((challenge, challenged)) = exchange.first(&first, Some(bound())) else { continue };
        if client.update(challenge.as_bytes()).is_err() {
            continue;
        }
        let mut last = client.message().to_vec();
        let right = last.clone();
        if !spoiled_first {
            mutate(&mut last, &mut dice);
        }
        if challenged.last(&last).is_ok() {
            assert_eq!(last, right, "round {round}");
            assert_eq!(first, initial(mechanism, first_message(&first)), "round {round}");
        }
    }
}

/// What the frame holds.
fn first_message(body: &[u8]) -> &[u8] {
    initial_response(body).unwrap().1
}

/// A byte changed, put in, taken out; a piece twice or cut off.
fn mutate(bytes: &mut Vec<u8>, dice: &mut impl FnMut(usize) -> usize) {
    let at = dice(bytes.len());
    let byte = *[0, b',', b'=', b'n', b'p', b'y', 0x7f, 0xff, b'A'].get(dice(9)).unwrap();
    match dice(5) {
        0 => *bytes.get_mut(at).unwrap() = byte,
        1 => bytes.insert(at, byte),
        2 => drop(bytes.remove(at)),
        3 => bytes.truncate(at),
        _ => {
            let piece = bytes.get(at..).unwrap().to_vec();
            bytes.extend(piece);
        }
    }
}

fn one_round(password: &str) -> String {
    let nothing =
        Verifier { iterations: 1, salt: vec![9; 16], ..Mock::new([0; 32], Form::default()).verifier("") };
    nothing.beside(password)
}

/// Each of them costs a microsecond or two.
const MUTATIONS: usize = 20_000;
