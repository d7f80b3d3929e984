//! Vector fields that span the tangent spaces, so that a network's numbers become a tangent vector.

use super::Spheres;
use crate::{measure::SphereBlock, special::dot};

/// How numbers f become a tangent vector X = Σ fᵢ Xᵢ(x) on each sphere.
///
/// # Reference
/// De Bortoli et al. (2022), "Riemannian score-based generative modelling", Section 3.2 and its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generator {
    /// Rotations xᵢ eⱼ − xⱼ eᵢ in all coordinate planes; no divergence. One per circle on a torus.
    DivFree,
    /// Projections of the coordinate axes.
    Ambient,
    /// Left-invariant fields q ⊗ i, q ⊗ j, q ⊗ k on unit quaternions; no divergence.
    LieAlgebra,
}

/// The fields of a generator at one point, in an orthonormal basis of the tangent space.
#[derive(Debug, Clone, PartialEq)]
pub struct Frames {
    /// ⟨basis vector a, Xᵢ⟩, row a for each dimension.
    pub coefficients: Vec<f64>,
    /// div Xᵢ.
    pub divergences: Vec<f64>,
}

impl Generator {
    /// All generators with their names.
    pub const ALL: [(&'static str, Generator); 3] =
        [("div-free", Generator::DivFree), ("ambient", Generator::Ambient), ("lie-algebra", Generator::LieAlgebra)];

    /// The usual one: left-invariant fields on rotations, rotations of coordinate planes elsewhere.
    pub fn usual(spheres: &Spheres) -> Self {
        if spheres.are_rotations() { Generator::LieAlgebra } else { Generator::DivFree }
    }

    /// Whether it makes fields of numbers that do not depend on free signs: its fields must change their sign with x there.
    pub fn suits(self, spheres: &Spheres) -> bool {
        spheres.blocks().iter().all(|block| match self {
            Generator::DivFree => true,
            Generator::Ambient => !block.antipodal,
            Generator::LieAlgebra => block.range.len() == 4,
        })
    }

    /// Number of fields on one sphere.
    fn block_fields(self, block: &SphereBlock) -> usize {
        let n = block.range.len();
        match self {
            Generator::DivFree => n * (n - 1) / 2,
            Generator::Ambient => n,
            Generator::LieAlgebra => 3,
        }
    }

    /// Number of fields.
    pub fn fields(self, spheres: &Spheres) -> usize {
        spheres.blocks().iter().map(|block| self.block_fields(block)).sum()
    }

    /// The fields at `x`, given a basis of the tangent space there.
    pub fn frames(self, spheres: &Spheres, x: &[f64], basis: &[f64]) -> Frames {
        let (dim, fields) = (spheres.ambient_dim(), self.fields(spheres));
        let mut coefficients = vec![0.0; spheres.intrinsic_dim() * fields];
        let mut divergences = vec![0.0; fields];
        let (mut first_field, mut first_row) = (0, 0);
        for block in spheres.blocks() {
            let (count, rows) = (self.block_fields(block), block.range.len() - 1);
            let x = &x[block.range.clone()];
            let mut field = vec![0.0; x.len()];
            for i in 0..count {
                divergences[first_field + i] = self.write(x, i, &mut field);
                for row in first_row..first_row + rows {
                    let vector = &basis[row * dim..][block.range.clone()];
                    coefficients[row * fields + first_field + i] = dot(vector, &field);
                }
            }
            first_field += count;
            first_row += rows;
        }
        Frames { coefficients, divergences }
    }

    /// Writes field `index` of one sphere at `x` and returns its divergence.
    fn write(self, x: &[f64], index: usize, field: &mut [f64]) -> f64 {
        match self {
            Generator::DivFree => {
                let pairs = (0..x.len()).flat_map(|i| (i + 1..x.len()).map(move |j| (i, j)));
                let (i, j) = { pairs }.nth(index).expect("one of the planes");
                field.fill(0.0);
                (field[i], field[j]) = (-x[j], x[i]);
                0.0
            }
            Generator::Ambient => {
                field.iter_mut().zip(x).for_each(|(f, x_k)| *f = -x[index] * x_k);
                field[index] += 1.0;
                -((x.len() - 1) as f64) * x[index]
            }
            Generator::LieAlgebra => {
                let [a, b, c, w] = [x[0], x[1], x[2], x[3]];
                field.copy_from_slice(&match index {
                    0 => [w, c, -b, -a],
                    1 => [-c, w, a, -b],
                    _ => [b, -a, w, -c],
                });
                0.0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{BuildContext, build},
        rng::{Purpose, stream},
        rotation::multiply,
    };

    fn spheres(spec: &str) -> Spheres {
        Spheres::of(build(spec, &BuildContext::without_files()).expect("known").as_ref()).expect("made of spheres")
    }

    /// Fields are tangent and have the divergence of their extension by x/|x|.
    #[test]
    fn fields_are_tangent_and_have_their_divergence() {
        for (spec, generator) in [
            ("sphere:1", Generator::DivFree),
            ("sphere:2", Generator::DivFree),
            ("sphere:2", Generator::Ambient),
            ("sphere:3", Generator::Ambient),
            ("so3", Generator::LieAlgebra),
        ] {
            let spheres = spheres(spec);
            let n = spheres.ambient_dim();
            let mut x: Vec<f64> = (0..n).map(|i| 0.3 + (i as f64 * 1.7).sin()).collect();
            spheres.normalise(&mut x);
            let at = |x: &[f64], i: usize| {
                let mut unit = x.to_vec();
                spheres.normalise(&mut unit);
                let mut field = vec![0.0; n];
                let divergence = generator.write(&unit, i, &mut field);
                (field, divergence)
            };
            let mut squares = 0.0;
            for i in 0..generator.fields(&spheres) {
                let (field, divergence) = at(&x, i);
                assert!(dot(&field, &x).abs() < 1e-14, "{spec} {generator:?}: field {i} is not tangent");
                squares += dot(&field, &field);
                let h = 1e-5;
                let found: f64 = (0..n)
                    .map(|k| {
                        let moved = |h: f64| {
                            let mut x = x.clone();
                            x[k] += h;
                            at(&x, i).0[k]
                        };
                        (moved(h) - moved(-h)) / (2.0 * h)
                    })
                    .sum();
                assert!((found - divergence).abs() < 1e-8, "{spec} {generator:?}: {found} {divergence}");
            }
            let frames = generator.frames(&spheres, &x, &spheres.basis(&x));
            let inside: f64 = frames.coefficients.iter().map(|c| c * c).sum();
            assert!((inside - squares).abs() < 1e-12, "all of a tangent field lies in the tangent basis");
        }
    }

    /// Σ Xᵢ Xᵢᵀ is the projection onto the tangent space: coefficients C in an orthonormal basis have C Cᵀ = 1.
    #[test]
    fn fields_span_all_directions_alike() {
        for spec in ["sphere:1", "sphere:2", "sphere:3", "so3", "torus:3", "product(so3,sphere:2)"] {
            let manifold = build(spec, &BuildContext::without_files()).expect("known");
            let (spheres, mut rng) = (spheres(spec), stream(1, Purpose::Data, 0));
            let mut x = vec![0.0; spheres.ambient_dim()];
            for (name, generator) in Generator::ALL.into_iter().filter(|(_, generator)| generator.suits(&spheres)) {
                for _ in 0..5 {
                    manifold.uniform().sample(&mut rng, &mut x);
                    let frames = generator.frames(&spheres, &x, &spheres.basis(&x));
                    let rows: Vec<&[f64]> = frames.coefficients.chunks_exact(generator.fields(&spheres)).collect();
                    assert_eq!(rows.len(), spheres.intrinsic_dim());
                    for (a, row) in rows.iter().enumerate() {
                        for (b, other) in rows.iter().enumerate() {
                            let product = dot(row, other);
                            assert!((product - f64::from(a == b)).abs() < 1e-14, "{spec} {name}: {a} {b} {product}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn lie_algebra_fields_are_right_products_with_units() {
        let mut q = [0.1, -0.5, 0.7, 0.3];
        let length = crate::special::norm(&q);
        q.iter_mut().for_each(|q| *q /= length);
        for (index, unit) in [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]].into_iter().enumerate()
        {
            let mut field = [0.0; 4];
            Generator::LieAlgebra.write(&q, index, &mut field);
            assert!(multiply(&q, &unit).iter().zip(field).all(|(a, b)| (a - b).abs() < 1e-15));
        }
    }

    #[test]
    fn a_torus_has_one_field_per_circle() {
        assert_eq!(Generator::DivFree.fields(&spheres("torus:7")), 7);
        assert_eq!(Generator::usual(&spheres("torus:7")), Generator::DivFree);
        assert_eq!(Generator::usual(&spheres("so3")), Generator::LieAlgebra);
        assert!(!Generator::LieAlgebra.suits(&spheres("sphere:2")));
        assert!(!Generator::Ambient.suits(&spheres("so3")));
    }
}
