//! The same results on processors without wide instructions.

mod common;
use common::{Desk, TINY, columns};

#[test]
fn narrow_instructions_give_the_same_model_to_rounding() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out quakes.csv");
    let samples = |run: &str, limit: Option<&str>| {
        let mut outputs = Vec::new();
        for words in
            [format!("fit quakes.csv --manifold sphere:2 --out {run} {TINY}"), format!("sample {run} -n 20 --seed 5")]
        {
            let mut command = desk.command(&words);
            limit.map(|limit| command.env("MAD_SIMD", limit));
            let output = command.output().expect("program started");
            assert!(output.status.success(), "{words}\n{}", String::from_utf8_lossy(&output.stderr));
            outputs.push(String::from_utf8(output.stdout).expect("UTF-8"));
        }
        columns(&outputs[1]).1
    };
    let (wide, narrow) = (samples("wide", None), samples("narrow", Some("portable")));
    assert_eq!((wide.len(), narrow.len()), (20, 20));
    for (a, b) in wide.iter().flatten().zip(narrow.iter().flatten()) {
        let turn = (a - b).abs() % 360.0;
        assert!(turn.min(360.0 - turn) < 0.5, "{a} against {b} degrees");
    }
}
