//! Earthquakes on the globe: fit, score, sample, density.
//!
//! ```text
//! cargo run --release --example sphere
//! ```

#![allow(clippy::print_stdout, reason = "the numbers are the result")]

use mad_nn::prelude::*;

fn main() -> Result<(), Error> {
    // A week of earthquakes, built in. `Fit::file("quakes.csv", "sphere:2")` reads a file.
    let table = datasets::make("earthquakes-week", None, 0, 0, None)?;

    // A small network, for a few seconds; without these settings it takes a minute.
    let model = Fit::table(&table, "sphere:2").steps(200).set("width", 64).set("depth", 2).seed(1).run()?;

    // Rows that the model has not seen.
    let test = model.run().part(Part::Test)?;
    let (nll, error) = model.likelihood(&test)?.negative_mean();
    println!("{} test points: NLL at most {nll:.2} ± {error:.2} nats per steradian", test.len());

    // Unit vectors, and the same points in the columns of the table.
    let samples = model.sample(5, 1)?;
    println!("{}", model.header().join(", "));
    for row in model.encode(&samples) {
        println!("{}", row.iter().map(Cell::to_string).collect::<Vec<_>>().join(", "));
    }
    // `model.write("samples.csv", &samples)` writes them to a file.

    // The density at two places, read in the columns of the table.
    let places = Table::numbers("places", Some(model.header()), 2, vec![61.0, -150.0, 48.9, 2.4]);
    let nats = model.log_density(&model.decode(&places)?)?;
    println!("log-density: {:.2} at Anchorage, {:.2} in Paris", nats[0], nats[1]);
    Ok(())
}
