//! Pieces of HTML. Text is escaped here and nowhere else.

use crate::printable::is_obeyed;
use std::fmt::{Display, Write};

/// Text that is already HTML.
#[derive(Debug, Clone, Default)]
pub struct Html(String);

impl Html {
    /// Text as it is read, with nothing of it taken as markup.
    pub fn text(text: impl Display) -> Self {
        let mut out = String::new();
        for c in text.to_string().chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\'' => out.push_str("&#39;"),
                '\n' | '\t' => out.push(c),
                c if is_obeyed(c) => {}
                c => out.push(c),
            }
        }
        Self(out)
    }

    /// Markup that is known to be good.
    pub fn raw(markup: impl Into<String>) -> Self {
        Self(markup.into())
    }

    /// An element around `inner`.
    pub fn element(name: &str, inner: impl Into<Html>) -> Self {
        Self(format!("<{name}>{}</{name}>\n", inner.into().0))
    }

    /// An element of a class around `inner`.
    pub fn classed(name: &str, class: &str, inner: impl Into<Html>) -> Self {
        Self(format!("<{name} class=\"{class}\">{}</{name}>\n", inner.into().0))
    }

    /// The same with `more` after it.
    pub fn and(mut self, more: impl Into<Html>) -> Self {
        self.0.push_str(&more.into().0);
        self
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The markup.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Html {
    fn from(text: &str) -> Self {
        Html::text(text)
    }
}

impl From<String> for Html {
    fn from(text: String) -> Self {
        Html::text(text)
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(parts: I) -> Self {
        Html(parts.into_iter().map(|part| part.0).collect())
    }
}

/// A part of the page with a heading that can be linked to.
pub struct Section {
    /// Name of the anchor.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What stands below it.
    pub body: Html,
}

impl Section {
    /// The section as an element.
    pub fn html(&self) -> Html {
        let Section { id, title, body } = self;
        Html(format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n{}</section>\n",
            Html::text(title).0,
            body.0
        ))
    }
}

/// A figure with a caption.
pub fn figure(svg: String, caption: &str) -> Html {
    let caption = Html::element("figcaption", caption);
    Html::element("figure", Html::classed("div", "card", Html::raw(svg)).and(caption))
}

/// Lines that can be copied.
pub fn code(text: &str) -> Html {
    Html::element("pre", Html::raw(format!("<code>{}</code>", Html::text(text).0)))
}

/// A paragraph.
pub fn paragraph(text: impl Into<Html>) -> Html {
    Html::element("p", text)
}

/// A table. The first cell of each row names the row; cells that read as numbers stand to the right.
pub fn table(caption: &str, header: &[&str], rows: &[Vec<String>]) -> Html {
    let numeric = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
        cells.peek().is_some() && cells.all(|cell| is_number(cell))
    };
    let class: Vec<&str> = (0..header.len()).map(|i| if numeric(i) { " class=\"number\"" } else { "" }).collect();
    let mut out = String::new();
    // A table that is too wide can be scrolled, also by keys.
    let label = Html::text(caption).0;
    let _ = writeln!(out, "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\"><table>");
    let _ = write!(out, "<caption>{label}</caption>\n<thead><tr>");
    for (name, class) in header.iter().zip(&class) {
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", Html::text(name).0);
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (i, (cell, class)) in row.iter().zip(&class).enumerate() {
            let cell = Html::text(cell).0;
            let _ = match i {
                0 => write!(out, "<th scope=\"row\"{class}>{cell}</th>"),
                _ => write!(out, "<td{class}>{cell}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    Html(out)
}

fn is_number(cell: &str) -> bool {
    let plain = cell.replace('\u{2212}', "-").replace([' ', '\u{202f}', '%', '+'], "");
    plain.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_text_becomes_markup() {
        let html = table("<b>", &["\"><script>"], &[vec!["a&b'\u{1}".into()]]);
        let text = html.as_str();
        assert!(!text.contains("<b>") && !text.contains("<script>") && !text.contains('\u{1}'), "{text}");
        assert!(text.contains("aria-label=\"&lt;b&gt;\"") && text.contains("a&amp;b&#39;"), "{text}");
    }

    #[test]
    fn columns_of_numbers_stand_to_the_right() {
        let html = table("t", &["name", "value"], &[vec!["a".into(), "−1.5".into()], vec!["b".into(), "2e-3".into()]]);
        assert!(html.as_str().contains("<td class=\"number\">−1.5</td>"), "{}", html.as_str());
        assert!(html.as_str().contains("<th scope=\"row\">a</th>"));
    }
}
