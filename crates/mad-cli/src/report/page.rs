//! The page around the sections.

use super::html::{Html, Section};

/// How the page looks; no part of it is fetched from elsewhere.
const STYLE: &str = include_str!("style.css");

/// A number that is shown large at the top.
pub struct Tile {
    /// What it is.
    pub name: String,
    /// The number.
    pub value: String,
    /// A few words below it; may be empty.
    pub note: String,
}

/// All that a page shows.
pub struct Page {
    /// Title.
    pub title: String,
    /// A sentence below the title.
    pub lead: String,
    /// Numbers at the top.
    pub tiles: Vec<Tile>,
    /// What follows, in order.
    pub sections: Vec<Section>,
    /// Last line.
    pub foot: String,
}

impl Page {
    /// The whole document. Its own policy forbids scripts and everything from the network.
    pub fn html(&self) -> String {
        let title = Html::text(&self.title);
        let tile = |tile: &Tile| {
            let note = if tile.note.is_empty() { Html::default() } else { Html::element("small", tile.note.as_str()) };
            let value = Html::element("dd", Html::text(&tile.value).and(note));
            Html::element("div", Html::element("dt", tile.name.as_str()).and(value))
        };
        let entry = |section: &Section| {
            Html::raw(format!("<li><a href=\"#{}\">{}</a></li>\n", section.id, Html::text(section.title).as_str()))
        };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
             <header>\n<div>\n<h1>{title}</h1>\n<p>{lead}</p>\n<dl class=\"tiles\">\n{tiles}</dl>\n</div>\n</header>\n\
             <main id=\"content\">\n<nav aria-label=\"Contents\">\n<ul>\n{contents}</ul>\n</nav>\n{sections}</main>\n\
             <footer>\n<p>{foot}</p>\n</footer>\n</body>\n</html>\n",
            title = title.as_str(),
            lead = Html::text(&self.lead).as_str(),
            tiles = self.tiles.iter().map(tile).collect::<Html>().as_str(),
            contents = self.sections.iter().map(entry).collect::<Html>().as_str(),
            sections = self.sections.iter().map(Section::html).collect::<Html>().as_str(),
            foot = Html::text(&self.foot).as_str(),
        )
    }
}
