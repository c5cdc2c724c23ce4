//! Colours, on a terminal only.

use std::env;
use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

/// How the parts of a diagnostic look. Without a terminal they all look alike.
#[derive(Debug, Clone, Copy)]
pub(super) struct Palette {
    pub(super) error: Style,
    pub(super) warning: Style,
    pub(super) good: Style,
    pub(super) frame: Style,
    pub(super) strong: Style,
}

impl Palette {
    /// Colours if `stream` is a terminal and `NO_COLOR` is not set.
    pub(super) fn of(stream: &impl IsTerminal) -> Palette {
        let wanted = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted && stream.is_terminal() { Palette::coloured() } else { Palette::plain() }
    }

    pub(super) fn plain() -> Palette {
        let plain = Style::new();
        Palette { error: plain, warning: plain, good: plain, frame: plain, strong: plain }
    }

    fn coloured() -> Palette {
        let bold = |colour: AnsiColor| colour.on_default().bold();
        Palette {
            error: bold(AnsiColor::Red),
            warning: bold(AnsiColor::Yellow),
            good: bold(AnsiColor::Green),
            frame: AnsiColor::Blue.on_default(),
            strong: Style::new().bold(),
        }
    }
}
