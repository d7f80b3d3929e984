//! A page about a run: one HTML file that needs no network, no script and no other file.
//!
//! [`html`] escapes and builds, [`settings`] and [`tables`] fill the tables, [`page`] puts it together.

pub mod closest;
pub mod html;
pub mod page;
pub mod poses;
pub mod settings;
pub mod tables;
