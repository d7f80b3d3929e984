//! Modules point one way: the arrows between them are those of the table in ARCHITECTURE.md, which has no cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// Crates whose modules have a table, by the name of their folder.
const CRATES: &[&str] = &["mad-core", "mad-nn"];

/// From a module to those it may use, in the order of the table.
type Table = Vec<(String, BTreeSet<String>)>;

/// An arrow with the places it was found at.
type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of a crate's table: `` | `module` | what it is | `used`, `used` | `` below the line that names the crate.
fn table(text: &str, krate: &str) -> Table {
    let section = text.split(&format!("### `{krate}`")).nth(1).unwrap_or_else(|| panic!("no table of {krate}"));
    let rows =
        section.lines().skip(1).skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    rows.filter_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let module = names(cells.first()?).into_iter().next()?;
        Some((module, names(cells.last()?).into_iter().collect()))
    })
    .collect()
}

/// Rust files below a folder with the path of their module.
fn files(folder: &Path, module: &[String], found: &mut Vec<(PathBuf, Vec<String>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut inside = module.to_vec();
        if path.is_dir() {
            inside.push(name);
            files(&path, &inside, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "main" {
            if !["mod", "lib"].contains(&name.as_str()) {
                inside.push(name);
            }
            found.push((path, inside));
        }
    }
}

/// Whether an item is compiled in tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| a.path().is_ident("cfg") && a.parse_args::<syn::Ident>().is_ok_and(|word| word == "test"))
}

/// Collects the modules that a file names.
struct Finder<'a> {
    /// The module that is read, from the root of the crate.
    module: Vec<String>,
    /// Names that the root exports, with the modules they come from.
    exports: &'a BTreeMap<String, String>,
    targets: BTreeSet<String>,
    tests: BTreeSet<String>,
}

impl Finder<'_> {
    /// Takes note of a path that begins with `crate`, `self` or `super`.
    fn note(&mut self, path: &[String]) {
        let mut place = match path[0].as_str() {
            "crate" => Vec::new(),
            "self" => self.module.clone(),
            "super" => self.module[..self.module.len().saturating_sub(1)].to_vec(),
            _ => return,
        };
        for part in &path[1..] {
            match part.as_str() {
                "super" => drop(place.pop()),
                "self" => {}
                name => place.push(name.to_owned()),
            }
        }
        if let Some(first) = place.first() {
            self.targets.insert(self.exports.get(first).unwrap_or(first).clone());
        }
    }

    fn walk(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(next) => {
                path.push(next.ident.to_string());
                self.walk(&next.tree, path);
                path.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.walk(tree, path)),
            syn::UseTree::Name(leaf) => self.note(&[path.clone(), vec![leaf.ident.to_string()]].concat()),
            syn::UseTree::Rename(leaf) => self.note(&[path.clone(), vec![leaf.ident.to_string()]].concat()),
            syn::UseTree::Glob(_) => self.note(path),
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if is_test(&item.attrs) {
            if item.content.is_none() {
                self.tests.insert(item.ident.to_string());
            }
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.walk(&item.tree, &mut Vec::new());
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.note(&path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>());
        visit::visit_path(self, path);
    }

    /// What macros are given is not parsed: paths are read off the words.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let words: Vec<String> = words(call.tokens.clone());
        for (at, word) in words.iter().enumerate() {
            let starts = at == 0 || words[at - 1] != ":";
            if starts && ["crate", "super"].contains(&word.as_str()) {
                let path =
                    words[at..].chunks(3).take_while(|chunk| chunk.len() == 3 && chunk[1] == ":" && chunk[2] == ":");
                let mut path: Vec<String> = path.map(|chunk| chunk[0].clone()).collect();
                path.extend(words.get(at + 3 * path.len()).cloned());
                self.note(&path);
            }
        }
    }
}

fn words(tokens: proc_macro2::TokenStream) -> Vec<String> {
    let each = |token| match token {
        proc_macro2::TokenTree::Group(group) => words(group.stream()),
        other => vec![other.to_string()],
    };
    tokens.into_iter().flat_map(each).collect()
}

/// What the root of a crate exports, and from which of its modules.
fn exports(root: &syn::File) -> BTreeMap<String, String> {
    fn leaves(tree: &syn::UseTree, found: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(next) => leaves(&next.tree, found),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, found)),
            syn::UseTree::Name(leaf) => found.push(leaf.ident.to_string()),
            syn::UseTree::Rename(leaf) => found.push(leaf.rename.to_string()),
            syn::UseTree::Glob(_) => {}
        }
    }
    let mut exports = BTreeMap::new();
    for item in &root.items {
        if let syn::Item::Use(syn::ItemUse { tree: syn::UseTree::Path(path), .. }) = item {
            let mut names = Vec::new();
            leaves(&path.tree, &mut names);
            exports.extend(names.into_iter().map(|name| (name, path.ident.to_string())));
        }
    }
    exports
}

/// All arrows between modules of a crate, outside its tests.
fn arrows(source: &Path) -> Arrows {
    let mut all = Vec::new();
    files(source, &[], &mut all);
    let parsed: Vec<_> = all
        .into_iter()
        .map(|(path, module)| {
            let text = std::fs::read_to_string(&path).unwrap();
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, module, file)
        })
        .collect();
    let exports =
        parsed.iter().find(|(path, ..)| path.ends_with("lib.rs")).map_or_else(BTreeMap::new, |f| exports(&f.2));
    let mut tests: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut found = Vec::new();
    for (path, module, file) in &parsed {
        let mut finder =
            Finder { module: module.clone(), exports: &exports, targets: BTreeSet::new(), tests: BTreeSet::new() };
        finder.visit_file(file);
        tests.extend(finder.tests.into_iter().map(|name| [module.clone(), vec![name]].concat()));
        found.push((path, module, finder.targets));
    }
    let mut arrows = Arrows::new();
    for (path, module, targets) in found {
        let [first, ..] = &module[..] else { continue };
        if tests.iter().any(|test| module.starts_with(test)) {
            continue;
        }
        for target in targets.into_iter().filter(|target| target != first) {
            let file = path.strip_prefix(source).unwrap().display().to_string();
            arrows.entry((first.clone(), target)).or_default().insert(file);
        }
    }
    arrows
}

#[test]
fn arrows_between_modules_are_those_of_the_table() {
    let text = std::fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let mut wrong = Vec::new();
    for krate in CRATES {
        let (table, found) = (table(&text, krate), arrows(&workspace().join("crates").join(krate).join("src")));
        let listed: BTreeSet<_> =
            table.iter().flat_map(|(from, to)| to.iter().map(move |to| (from.clone(), to.clone()))).collect();
        for ((from, to), files) in &found {
            if !listed.contains(&(from.clone(), to.clone())) {
                let files = files.iter().cloned().collect::<Vec<_>>().join(", ");
                wrong.push(format!("{krate}: {from} uses {to} in {files}: not in the table"));
            }
        }
        for (from, to) in listed.iter().filter(|arrow| !found.contains_key(arrow)) {
            wrong.push(format!("{krate}: the table lets {from} use {to}, and it does not"));
        }
        assert!(!found.is_empty(), "{krate}: no arrow was found");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_of_the_table_use_only_those_above_them() {
    let text = std::fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    for krate in CRATES {
        let mut above = BTreeSet::new();
        for (module, used) in table(&text, krate) {
            let below: Vec<_> = used.difference(&above).collect();
            assert!(below.is_empty(), "{krate}: {module} uses {below:?}, which does not stand above it");
            above.insert(module);
        }
        assert!(above.len() > 10, "{krate}: {above:?}");
    }
}

#[test]
fn arrows_are_found_in_groups_macros_and_through_super() {
    let file = "
        use crate::{a::X, b::{self, Y}, Root};
        use super::super::{
            c::Z,
        };
        fn f() { println!(\"{}\", crate::d::g()); crate::e::h(); super::own() }
        #[cfg(test)]
        mod tests { use crate::hidden::X; }
    ";
    let exports = BTreeMap::from([("Root".to_owned(), "root".to_owned())]);
    let module = vec!["m".to_owned(), "part".to_owned()];
    let mut finder = Finder { module, exports: &exports, targets: BTreeSet::new(), tests: BTreeSet::new() };
    finder.visit_file(&syn::parse_file(file).unwrap());
    let found: Vec<_> = finder.targets.iter().map(String::as_str).collect();
    assert_eq!(found, ["a", "b", "c", "d", "e", "m", "root"]);
}
