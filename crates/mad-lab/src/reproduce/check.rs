//! Whether the names in an experiment fit together.

use super::{Experiment, ExperimentError, experiment::Method, quantity::QUANTITIES};

impl Experiment {
    /// Refuses names that are not defined, or twice, and values that make no sense.
    pub(super) fn check(&self) -> Result<(), ExperimentError> {
        let origin = || self.origin.clone();
        let value = |key: &str, problem: &str| ExperimentError::Value {
            origin: origin(),
            key: key.to_owned(),
            problem: problem.to_owned(),
        };
        let labels: Vec<&str> = self.methods.iter().map(|m| m.label.as_str()).collect();
        let keys: Vec<&str> = self.data.iter().map(|d| d.key.as_str()).collect();
        let protocols: Vec<&str> = self.protocols.iter().map(|p| p.key.as_str()).collect();
        for (key, names) in [("method", &labels), ("data", &keys), ("protocol", &protocols)] {
            if let Some((_, name)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
                return Err(ExperimentError::Twice { origin: origin(), key, name: (*name).to_owned() });
            }
        }
        if self.seeds.is_empty() && self.methods.iter().any(|method| method.run && method.seeds.is_empty()) {
            return Err(value("seeds", "give at least one seed"));
        }
        if let Some(method) = self
            .methods
            .iter()
            .find(|m| !(m.run || m.settings.is_empty() && m.on.is_empty() && m.rows.is_none() && m.seeds.is_empty()))
        {
            return Err(value(
                "method",
                &format!("`{}` has run = false and settings, rows or seeds; it can have one only", method.label),
            ));
        }
        for seeds in self.methods.iter().map(|method| &method.seeds).chain([&self.seeds]) {
            if let Some((_, seed)) = seeds.iter().enumerate().find(|(i, seed)| seeds[..*i].contains(seed)) {
                return Err(ExperimentError::Twice { origin: origin(), key: "seeds", name: seed.to_string() });
            }
        }
        self.check_score(false)?;
        let name = |key: String, what, name: &str, known: &[&str]| ExperimentError::Name {
            origin: origin(),
            key,
            what,
            name: name.to_owned(),
            known: known.join(", "),
        };
        self.check_tables()?;
        let quantities: Vec<&str> = QUANTITIES.iter().map(|q| q.name).collect();
        for protocol in &self.protocols {
            let wrong = protocol.methods.iter().flatten().find(|label| !labels.contains(&label.as_str()));
            if let Some(wrong) = wrong {
                return Err(name(format!("protocol.{}.methods", protocol.key), "method", wrong, &labels));
            }
        }
        // Means over seeds that both have can be made for one partner only.
        let mut paired: Vec<&str> = Vec::new();
        for Method { label, on, paper, against, .. } in &self.methods {
            if let Some(against) = against {
                if !labels.contains(&against.as_str()) {
                    return Err(name(format!("method `{label}`, against"), "method", against, &labels));
                }
                for one in [label.as_str(), against.as_str()] {
                    if paired.contains(&one) {
                        return Err(ExperimentError::Twice { origin: origin(), key: "against", name: one.to_owned() });
                    }
                    paired.push(one);
                }
            }
            if let Some(wrong) = on.keys().find(|key| !keys.contains(&key.as_str())) {
                return Err(name(format!("method `{label}`, on"), "data set", wrong, &keys));
            }
            for (quantity, values) in paper {
                if !quantities.contains(&quantity.as_str()) {
                    return Err(name(format!("method `{label}`, paper"), "quantity", quantity, &quantities));
                }
                if let Some(wrong) = values.keys().find(|key| *key != "*" && !keys.contains(&key.as_str())) {
                    return Err(name(format!("method `{label}`, paper.{quantity}"), "data set", wrong, &keys));
                }
            }
        }
        Ok(())
    }

    /// Refuses numbers of rows and samples that leave nothing to compare, by the keys of the whole version or of `[quick]`.
    pub(super) fn check_score(&self, quick: bool) -> Result<(), ExperimentError> {
        let prefix = if quick { "quick." } else { "" };
        let value = |key: String, problem: &str| {
            Err(ExperimentError::Value { origin: self.origin.clone(), key, problem: problem.to_owned() })
        };
        if self.score.samples < 2 {
            return value(format!("{prefix}score.samples"), "give at least 2");
        }
        if self.score.fresh.is_some_and(|fresh| fresh < 2) {
            return value(format!("{prefix}score.fresh"), "give at least 2");
        }
        if let Some(data) = self.data.iter().find(|data| data.rows == Some(0)) {
            let key = if quick { "quick.rows".to_owned() } else { format!("data `{}`, rows", data.key) };
            return value(key, "give at least one row");
        }
        for Method { label, rows, .. } in &self.methods {
            let key = format!("method `{label}`, rows");
            match rows {
                Some(0) => return value(key, "give at least one row"),
                Some(_) if self.score.fresh.is_none() && quick => {
                    let why = format!(
                        "{key} are given: other rows are another test part unless test rows are fresh; give it"
                    );
                    return value("quick.score.fresh".into(), &why);
                }
                Some(_) if self.score.fresh.is_none() => {
                    let why = "without score.fresh other rows are another test part, and scores cannot be compared; leave it out";
                    return value(key, why);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses tables of unknown quantities.
    pub(super) fn check_tables(&self) -> Result<(), ExperimentError> {
        let known: Vec<&str> = QUANTITIES.iter().map(|q| q.name).collect();
        match self.tables.iter().find(|t| !known.contains(&t.as_str())) {
            None => Ok(()),
            Some(wrong) => Err(ExperimentError::Name {
                origin: self.origin.clone(),
                key: "tables".into(),
                what: "quantity",
                name: wrong.clone(),
                known: known.join(", "),
            }),
        }
    }
}
