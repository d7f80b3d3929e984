//! Mean, spread and quantiles of numbers.

/// Mean and sample variance.
///
/// ```
/// use mad_core::Moments;
/// let moments = Moments::of(&[1.0, 2.0, 6.0]);
/// assert_eq!((moments.mean, moments.variance), (3.0, 7.0));
/// assert_eq!(Moments::of(&[5.0]).deviation(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Number of values.
    pub count: usize,
    /// Their mean; not a number if there are none.
    pub mean: f64,
    /// Sum of squares about the mean over count − 1; zero for a single value.
    pub variance: f64,
}

impl Moments {
    /// Of these values.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
        Self { count: values.len(), mean, variance: squares / (n - 1.0).max(1.0) }
    }

    /// Standard deviation of the values; a single one has none.
    pub fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| self.variance.sqrt())
    }

    /// Standard deviation of the mean.
    pub fn standard_error(&self) -> f64 {
        (self.variance / self.count as f64).sqrt()
    }
}

/// A quantile of rising numbers, interpolated between the two nearest.
///
/// ```
/// use mad_core::quantile;
/// assert_eq!((quantile(&[1.0], 0.95), quantile(&[1.0, 2.0, 4.0], 0.25)), (1.0, 1.5));
/// ```
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}
