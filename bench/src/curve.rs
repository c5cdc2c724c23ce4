//! Cost as one thing grows: a table and a plot (SVG) of it.

use std::fmt::Write as _;

use plotters::prelude::{
    BLACK, ChartBuilder, Color as _, IntoDrawingArea as _, IntoLogRange as _, LineSeries, PathElement,
    RGBColor, SVGBackend, SeriesLabelPosition, WHITE,
};
use serde::Serialize;

/// Several lines over one growing thing.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Curve {
    /// What grows; part of the plot's file name.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) lines: Vec<Line>,
}

/// One line; what has another unit stands in the table alone.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) plotted: bool,
}

impl Curve {
    pub(crate) fn new(name: &'static str, title: &str, x: &'static str, y: &'static str) -> Self {
        Self { name, title: title.to_owned(), x, y, lines: Vec::new() }
    }

    /// Adds a point to the line of that label, which begins with its first point.
    pub(crate) fn point(&mut self, label: &str, x: f64, y: f64) {
        self.add(label, x, y, true);
    }

    /// The same for the table alone.
    pub(crate) fn note(&mut self, label: &str, x: f64, y: f64) {
        self.add(label, x, y, false);
    }

    fn add(&mut self, label: &str, x: f64, y: f64, plotted: bool) {
        match self.lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push((x, y)),
            None => self.lines.push(Line { label: label.to_owned(), points: vec![(x, y)], plotted }),
        }
    }

    /// A row for each x, a column for each line.
    pub(crate) fn table(&self, text: &mut String) -> std::fmt::Result {
        write!(text, "| {} |", self.x)?;
        for line in &self.lines {
            write!(text, " {} |", line.label)?;
        }
        writeln!(text, "\n|---:|{}", "---:|".repeat(self.lines.len()))?;
        for x in self.xs() {
            write!(text, "| {} |", plain(x))?;
            for line in &self.lines {
                match line.points.iter().find(|point| point.0 == x) {
                    Some((_, y)) if *y >= 100.0 || y.fract() == 0.0 => write!(text, " {} |", plain(*y))?,
                    Some((_, y)) => write!(text, " {y:.2} |")?,
                    None => write!(text, " |")?,
                }
            }
            writeln!(text)?;
        }
        Ok(())
    }

    /// The plot, both axes logarithmic.
    ///
    /// # Errors
    ///
    /// What the plotter says.
    pub(crate) fn svg(&self) -> Result<String, String> {
        let mut svg = String::new();
        self.draw(&mut svg).map_err(|error| format!("the plot {}: {error}", self.name))?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let plotted: Vec<&Line> = self.lines.iter().filter(|line| line.plotted).collect();
        let area = SVGBackend::with_string(svg, SIZE_PIXELS).into_drawing_area();
        area.fill(&WHITE)?;
        let (left, right) = span(&plotted, |point| point.0);
        let (xs, ys) = ((left / 1.5, right * 1.5), decades(span(&plotted, |point| point.1)));
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(72)
            .build_cartesian_2d((xs.0..xs.1).log_scale(), (ys.0..ys.1).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            // Between the powers of ten they would be too many to be told apart.
            .light_line_style(WHITE)
            .y_labels(AXIS_LABELS)
            .x_label_formatter(&|value| plain(*value))
            .y_label_formatter(&|value| plain(*value))
            .draw()?;
        for (line, color) in plotted.iter().zip(COLORS.iter().cycle()) {
            let style = color.stroke_width(2);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style).point_size(3))?
                .label(&line.label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        area.present()?;
        Ok(())
    }

    fn xs(&self) -> Vec<f64> {
        let mut xs: Vec<f64> = self.lines.iter().flat_map(|line| &line.points).map(|point| point.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        xs
    }
}

/// The smallest value and the largest one; a logarithm has no zero.
fn span(lines: &[&Line], of: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
    let values = || lines.iter().flat_map(|line| &line.points).map(&of).map(|value| value.max(SMALLEST));
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(SMALLEST, f64::max));
    (low.min(high), high)
}

/// Out to the next powers of ten and a hair beyond: these have labels, and an axis is to have some.
fn decades((low, high): (f64, f64)) -> (f64, f64) {
    let (below, above) = (low.log10().floor(), high.log10().ceil());
    (10_f64.powf(below) / 1.01, 10_f64.powf(above.max(below + 1.0)) * 1.01)
}

/// With its thousands apart; below one as it is.
fn plain(value: f64) -> String {
    if value.abs() < 1.0 {
        return value.to_string();
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        let left = digits.len() - place;
        let after_a_digit = text.ends_with(|before: char| before.is_ascii_digit());
        text.push_str(if left % 3 == 0 && after_a_digit { "," } else { "" });
        text.push(digit);
    }
    text
}

const SMALLEST: f64 = 1e-3;
const AXIS_LABELS: usize = 8;
const SIZE_PIXELS: (u32, u32) = (720, 420);
const COLORS: [RGBColor; 4] =
    [RGBColor(31, 119, 180), RGBColor(214, 39, 40), RGBColor(44, 160, 44), RGBColor(148, 103, 189)];

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_a_table_and_a_plot() {
        let mut curve = Curve::new("rows", "Time of a result", "rows", "µs");
        for (rows, direct, own) in [(1.0, 40.0, 50.5), (1000.0, 400.0, 420.0)] {
            curve.point("direct", rows, direct);
            curve.point("pgmoat", rows, own);
        }
        curve.note("entries", 1000.0, 1.0);
        let mut table = String::new();
        curve.table(&mut table).unwrap();
        assert_eq!(
            table,
            "| rows | direct | pgmoat | entries |\n|---:|---:|---:|---:|\n| 1 | 40 | 50.50 | |\n| 1,000 | 400 | 420 | 1 |\n"
        );
        let svg = curve.svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("Time of a result") && svg.contains("pgmoat"));
        assert!(!svg.contains("entries"));
    }

    #[test]
    fn an_axis_has_labels_however_little_its_values_differ() {
        let mut curve = Curve::new("tenants", "Tenants", "tenants", "µs");
        curve.point("pgmoat", 1.0, 0.21);
        curve.point("pgmoat", 1000.0, 0.22);
        let svg = curve.svg().unwrap();
        assert!(["\n0.1\n", "\n1\n"].iter().all(|label| svg.contains(label)), "{svg}");
    }

    #[test]
    fn thousands_stand_apart() {
        let told = [0.0, 0.5, 1.0, 999.0, 1000.0, 100_000.0, 1_234_567.0, -100.0, -2160.4].map(plain);
        assert_eq!(told, ["0", "0.5", "1", "999", "1,000", "100,000", "1,234,567", "-100", "-2,160"]);
    }

    #[test]
    fn a_curve_of_one_point_is_a_plot_too() {
        let mut curve = Curve::new("x", "x", "x", "y");
        curve.point("only", 1.0, 0.0);
        assert!(curve.svg().unwrap().ends_with("</svg>\n"));
    }
}
