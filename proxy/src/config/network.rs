//! Where a user may come from: an address and how many of its bits count (RFC 4632, RFC 4291), or the machine's own
//! Unix sockets.

use std::net::IpAddr;

/// A part of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Unix sockets.
    Local,
    /// The addresses whose first bits are these.
    Prefix {
        /// One of them.
        address: IpAddr,
        /// How many bits count.
        bits: u8,
    },
}

impl Network {
    /// Reads `local`, an address, or an address and its bits.
    pub(super) fn parse(text: &str) -> Result<Network, String> {
        if text == "local" {
            return Ok(Network::Local);
        }
        let expected = || "expected an address, a network as in 10.0.0.0/8, or local".to_owned();
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| expected())?;
        let all = width(address);
        let bits = match bits {
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
                bits.parse().ok().filter(|bits| *bits <= all).ok_or_else(expected)?
            }
            Some(_) => return Err(expected()),
            None => all,
        };
        if number(address) & !mask(all, bits) != 0 {
            return Err(format!("there are bits behind the first {bits}: which network is meant?"));
        }
        Ok(Network::Prefix { address, bits })
    }

    /// Whether a client from there is one of these; none is one from a Unix socket.
    pub fn has(&self, client: Option<IpAddr>) -> bool {
        match (self, client) {
            (Network::Local, None) => true,
            (Network::Local, Some(_)) | (Network::Prefix { .. }, None) => false,
            (Network::Prefix { address, bits }, Some(client)) => {
                // A listener on [::] sees IPv4 clients as mapped addresses (RFC 4291 2.5.5.2).
                let client = client.to_canonical();
                let all = width(*address);
                all == width(client) && number(*address) == number(client) & mask(all, *bits)
            }
        }
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The first `bits` of `all`.
fn mask(all: u8, bits: u8) -> u128 {
    let whole = if all == 32 { u128::from(u32::MAX) } else { u128::MAX };
    let rest = u32::from(all - bits);
    whole & u128::MAX.checked_shl(rest).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn has(network: &str, client: &str) -> bool {
        Network::parse(network).unwrap().has(Some(client.parse().unwrap()))
    }

    #[test]
    fn a_network_has_the_addresses_with_its_bits_and_no_other() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.1.2", "11.0.0.0"),
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("0.0.0.0/0", "203.0.113.9", "::1"),
            ("192.168.4.0/23", "192.168.5.255", "192.168.6.0"),
            ("127.0.0.1/32", "::ffff:127.0.0.1", "::1"),
            ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
            ("::/0", "2001:db8::1", "10.0.0.1"),
            ("::1", "::1", "::2"),
        ] {
            assert!(has(network, inside), "{network} has {inside}");
            assert!(!has(network, outside), "{network} has not {outside}");
            assert!(!Network::parse(network).unwrap().has(None), "{network} is no socket");
        }
        assert!(Network::Local.has(None) && !Network::Local.has(Some("127.0.0.1".parse().unwrap())));
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for bad in [
            "",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "10.0.0.1/8",
            "::1/64",
            "host",
            "/8",
        ] {
            assert!(Network::parse(bad).is_err(), "{bad}");
        }
    }
}
