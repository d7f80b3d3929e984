//! `mad report`: one page that says everything, needs nothing, and trusts no name in the data.

mod common;
use common::{Desk, TINY};

const SECTIONS: [&str; 9] = [
    "What was fitted",
    "Scores",
    "Data and samples",
    "Columns",
    "Training",
    "Settings",
    "Repeat it",
    "Hashes and versions",
    "Citation",
];

/// Elements that have no end.
const VOID: [&str; 4] = ["meta", "br", "hr", "!DOCTYPE"];

/// The tags of a page in order, as (name, text inside the brackets).
fn tags(page: &str) -> Vec<(&str, &str)> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("every tag ends");
        let inside = &rest[start + 1..end];
        let name = inside.split([' ', '\n']).next().expect("a name").trim_end_matches('/');
        tags.push((name, inside));
        rest = &rest[end + 1..];
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("style ends")..];
        }
    }
    tags
}

/// What must hold for every page, whatever the run.
fn check(page: &str) {
    for title in SECTIONS {
        assert!(page.contains(&format!(">{title}</h2>")), "no section {title}");
    }
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && page.ends_with("</html>\n"));
    assert!(page.contains("<a class=\"skip\" href=\"#content\">") && page.contains("id=\"content\""));
    assert!(page.contains("Levy-Jurgenson") && page.contains("Manifold Aware Denoising Score Matching"));
    assert!(!page.contains("://"), "an address of something else: {:?}", &page[page.find("://").unwrap_or(0)..][..40]);

    let tags = tags(page);
    let mut open = Vec::new();
    for (name, inside) in &tags {
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "<{inside}>");
        } else if !VOID.contains(name) && !inside.ends_with('/') {
            open.push(name);
        }
        assert!(!["script", "link", "img", "iframe", "object", "embed", "base"].contains(name), "<{inside}>");
        let attributes: String = inside.split('"').step_by(2).collect();
        assert!(!attributes.contains(" src=") && !attributes.contains(" on"), "<{inside}>");
        assert!(!inside.contains("href=") || inside.contains("href=\"#"), "<{inside}>");
        if *name == "th" {
            assert!(inside.contains("scope="), "<{inside}>");
        }
    }
    assert_eq!(open, Vec::<&str>::new(), "elements left open");

    let mut names: Vec<&str> = Vec::new();
    for (_, inside) in &tags {
        names.extend(inside.split(" id=\"").nth(1).map(|rest| &rest[..rest.find('"').expect("quotes end")]));
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "an id occurs twice");
    for (name, inside) in &tags {
        for reference in ["aria-labelledby=\"", "href=\"#", "url(#"] {
            let Some(rest) = inside.split(reference).nth(1) else { continue };
            let end = rest.find(['"', ')']).expect("the reference ends");
            assert!(names.binary_search(&&rest[..end]).is_ok(), "<{inside}> points nowhere");
        }
        assert!(*name != "svg" || inside.contains("role=\"img\"") && inside.contains("aria-labelledby="), "<{inside}>");
    }
    let (pictures, titles) = (page.matches("<svg ").count(), page.matches("<title id=").count());
    assert!(pictures >= 2 && pictures == titles, "{pictures} pictures, {titles} titles");
}

/// The lines to be copied, as a shell reads them.
fn commands(page: &str) -> Vec<String> {
    let start = page.find("<pre><code>mad fit").expect("commands") + "<pre><code>".len();
    let block = &page[start..start + page[start..].find("</code>").expect("an end")];
    let text = block.replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&amp;", "&").lines().map(str::to_owned).collect()
}

#[test]
fn a_globe_with_its_density_and_commands_that_repeat_it() {
    let desk = Desk::new();
    desk.ok("data make vmf-mixture -n 300 --seed 3 --out xyz.csv");
    desk.ok(&format!("fit xyz.csv --manifold sphere:2 --out run {TINY}"));
    let scores = desk.json("eval run --against test --seed 2");
    let report = desk.json("report run -n 80 --seed 2");
    assert_eq!(report["out"], "run/report.html");
    let page = desk.read("run/report.html");
    check(&page);
    assert!(
        page.contains(">Density</h2>") && page.matches("<svg ").count() == 5,
        "map, globes, samples, curves, closest rows"
    );
    for name in ["nll_bound", "mmd", "drift_mean"] {
        assert!(page.contains(&format!("<th scope=\"row\">{name}</th>")), "{name} is missing");
        assert!(scores["metrics"][name].is_object());
    }
    let nll = scores["metrics"]["nll_bound"]["value"].as_f64().expect("a number");
    let digits = (3 - nll.abs().log10().floor() as i32).clamp(0, 6) as usize;
    let shown = format!("{nll:.digits$}").replace('-', "−");
    assert!(
        page.contains(&format!("<td class=\"number\">{shown}</td>")),
        "the page has the score of `mad eval`, {shown}"
    );

    let lines = commands(&page);
    let expected = "mad fit xyz.csv --manifold sphere:2 -o run --steps 40 --batch 64 --set width=32 --set depth=2 \
                    --set evaluate_every=20 --seed 1";
    assert_eq!(lines[0], expected);
    assert_eq!(lines[1], "mad eval run --seed 2");
    // The printed command makes the same weights again.
    let again = lines[0].trim_start_matches("mad ").replace("-o run", "-o again");
    desk.ok(&again);
    for file in ["config.toml", "metrics.jsonl"] {
        assert_eq!(desk.read(&format!("run/{file}")), desk.read(&format!("again/{file}")), "{file}");
    }
    desk.ok("report run -n 80 --seed 2 --out other.html");
    assert_eq!(desk.read("other.html"), page, "a page holds no clock");
    let listed = desk.names("run");
    assert!(!listed.iter().any(|name| name.ends_with(".tmp")), "{listed:?}");
}

#[test]
fn names_in_the_data_are_text_and_nothing_else() {
    let desk = Desk::new();
    let rows: String = (0..240)
        .map(|i| format!("{},{}\n", ["<script>alert(1)</script>", "b&\"'b", "plain"][i % 3], ["x", "y"][i % 2]))
        .collect();
    let rows = rows.replace("b&\"'b", "\"b&\"\"'b\"");
    desk.write("<i>table.csv", &format!("<script>,\"\"\"><svg onload=x>\"\n{rows}"));
    desk.ok(&format!("fit <i>table.csv --manifold categorical --out run {TINY}"));
    desk.ok("report run -n 60");
    let page = desk.read("run/report.html");
    check(&page);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("b&amp;&quot;&#39;b"));
    assert!(page.contains("Values of &lt;script&gt;") && page.contains("Most frequent combinations"));
    assert!(page.contains("<th scope=\"row\">plain</th><td class=\"number\">3"), "a third of the data, about");
    assert!(page.contains("<h1>&lt;i&gt;table.csv on categorical"), "the title");
}

#[test]
fn angles_and_products() {
    let desk = Desk::new();
    desk.ok("data make checkerboard-t2 -n 300 --seed 2 --out t2.csv");
    desk.ok(&format!("fit t2.csv --manifold torus:2 --out run {TINY}"));
    desk.ok("report run -n 60");
    let page = desk.read("run/report.html");
    check(&page);
    assert!(page.contains("density per square radian") && page.matches("<svg ").count() == 4);
    desk.ok("plot run --what density --out density.svg");

    let rows: String = (0..200)
        .map(|i| {
            let (half, x) = (0.1 * (i % 7) as f64, 100.0 + (i % 11) as f64);
            format!("{},{},{},{},0,0,{}\n", x, -x, 0.5 * x, half.cos(), half.sin())
        })
        .collect();
    desk.write("poses.csv", &format!("tx,ty,tz,qw,qx,qy,qz\n{rows}"));
    desk.ok(&format!("fit poses.csv --manifold product(so3,euclid:3) --out poses {TINY}"));
    desk.ok("report poses -n 60 --out poses.html");
    let page = desk.read("poses.html");
    check(&page);
    assert!(!page.contains(">Density</h2>"));
    assert!(page.contains("<th scope=\"row\">tx, data</th>") && page.contains("<th scope=\"row\">qw</th>"));
    assert!(page.contains(">tx</text>") && page.contains(">ty</text>"), "axes have the names of the file");
    assert!(page.contains(">−100</text>"), "and its units");
    assert!(commands(&page)[0].contains("--manifold 'product(so3,euclid:3)'"), "{:?}", commands(&page));
}

#[test]
fn methods_without_steps_and_folders_without_a_source_have_pages_too() {
    let desk = Desk::new();
    desk.ok("data make vmf-mixture -n 200 --seed 3 --out xyz.csv");
    let fit = desk.json("fit xyz.csv --manifold sphere:2 --out run --method kde --seed 1");
    assert!(fit["validation"]["nll"].is_number() && fit["validation"]["nll_bound"].is_null(), "no bound: {fit}");
    assert!(desk.fails(2, "sample run -n 3 --nfe 4 --out s.csv").contains("method `kde`"), "there is nothing to call");
    std::fs::remove_file(desk.path("run").join("source.json")).expect("removed");
    desk.ok("report run -n 50");
    let page = desk.read("run/report.html");
    assert!(page.contains("no curves: 0 training steps") && page.contains("put the file for DATA"), "{page}");
    assert!(page.contains("<h1>run on sphere:2</h1>"));

    desk.fails(4, "report nowhere");
    desk.fails(5, "report run -n 5 --out missing/folder/report.html");
    assert!(desk.fails(2, "report run -n 5 --out page.pdf").contains(".html"));
    // A link keeps pointing to the file that is written.
    std::fs::write(desk.path("far.html"), "old").unwrap();
    std::os::unix::fs::symlink(desk.path("far.html"), desk.path("near.html")).unwrap();
    desk.ok("report run -n 5 --out near.html");
    assert!(desk.path("near.html").is_symlink() && desk.read("far.html").contains("<h1>run on sphere:2</h1>"));
    desk.fails(2, "report run -n 0");
}
