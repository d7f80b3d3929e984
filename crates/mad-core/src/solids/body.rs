//! The shapes themselves: where a ray meets them, which way the surface looks there, and what it is painted with.

use std::sync::LazyLock;

type Vector = [f64; 3];

/// What a piece of surface is painted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Red,
    Blue,
}

/// A convex body in its own frame.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body {
    Polyhedron(&'static LazyLock<Polyhedron>),
    /// Radius 1 at z = −1.5, apex at z = 1.5.
    Cone,
    /// Radius 1, −1 ≤ z ≤ 1; with a red dot on its side, above the middle.
    Cylinder {
        dotted: bool,
    },
    /// Radius 1.2, a blue cross about z and a red dot beyond one gap of it.
    MarkedSphere,
}

/// The first point of a body on a ray.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    /// The ray's parameter there.
    pub(super) depth: f64,
    /// Outward unit normal.
    pub(super) normal: Vector,
    pub(super) paint: Paint,
}

/// A convex body bounded by planes n·x = h.
#[derive(Debug)]
pub(super) struct Polyhedron {
    /// Outward unit normals.
    pub(super) normals: Vec<Vector>,
    /// Distances of the planes from the origin.
    pub(super) offsets: Vec<f64>,
    pub(super) circumradius: f64,
    /// The face painted red, if one is.
    pub(super) red: Option<usize>,
}

/// Most faces of a polyhedron.
pub(super) const MAX_FACES: usize = 20;

const CONE_BASE: f64 = -1.5;
const CONE_APEX: f64 = 1.5;
/// Radius over distance from the apex.
const CONE_SLOPE: f64 = 1.0 / (CONE_APEX - CONE_BASE);
/// Cosine of the half angle at the apex: 1/√(1 + 1/9).
const CONE_COSINE: f64 = 0.948_683_298_050_513_8;
const SPHERE_RADIUS: f64 = 1.2;
const ICOSAHEDRON_CIRCUMRADIUS: f64 = 1.63;

/// Height of the centre of the cylinder's dot, and its radius along the surface.
const DOT: (f64, f64) = (0.45, 0.35);
/// Reach and half width of the arms of the cross, as angles.
const CROSS: (f64, f64) = (0.6, 0.11);
/// Angle between the centre of the cross and that of the sphere's dot, and its radius as an angle.
const CROSS_DOT: (f64, f64) = (0.75, 0.17);

/// Faces opposite to the vertices (0, ±√2, 1), (±√2, 0, −1).
fn tetrahedron(red: Option<usize>) -> Polyhedron {
    let (a, b) = ((2.0 / 3.0f64).sqrt(), (1.0 / 3.0f64).sqrt());
    let normals = vec![[0.0, -a, -b], [0.0, a, -b], [-a, 0.0, b], [a, 0.0, b]];
    Polyhedron { offsets: vec![1.0 / 3f64.sqrt(); 4], normals, circumradius: 3f64.sqrt(), red }
}

pub(super) static TETRAHEDRON: LazyLock<Polyhedron> = LazyLock::new(|| tetrahedron(None));
pub(super) static MARKED_TETRAHEDRON: LazyLock<Polyhedron> = LazyLock::new(|| tetrahedron(Some(0)));

pub(super) static CUBE: LazyLock<Polyhedron> = LazyLock::new(|| {
    let normals = (0..6).map(|i| std::array::from_fn(|j| if i / 2 == j { 1.0 - 2.0 * (i % 2) as f64 } else { 0.0 }));
    Polyhedron { normals: normals.collect(), offsets: vec![1.0; 6], circumradius: 3f64.sqrt(), red: None }
});

/// Planes about a body of revolution, and one or two across its axis.
fn hull(slope: f64, offset: f64, caps: &[(f64, f64)]) -> Polyhedron {
    let scale = 1.0 / (1.0 + slope * slope).sqrt();
    let side = |i: usize| {
        let (sin, cos) = (std::f64::consts::TAU * i as f64 / HULL_SIDES as f64).sin_cos();
        [scale * cos, scale * sin, scale * slope]
    };
    let normals = (0..HULL_SIDES).map(side).chain(caps.iter().map(|(direction, _)| [0.0, 0.0, *direction])).collect();
    let offsets = std::iter::repeat_n(scale * offset, HULL_SIDES).chain(caps.iter().map(|(_, h)| *h)).collect();
    Polyhedron { normals, offsets, circumradius: f64::INFINITY, red: None }
}

/// Planes along the side of a hull.
const HULL_SIDES: usize = 12;

static CONE_HULL: LazyLock<Polyhedron> =
    LazyLock::new(|| hull(CONE_SLOPE, CONE_SLOPE * CONE_APEX, &[(-1.0, -CONE_BASE)]));
static CYLINDER_HULL: LazyLock<Polyhedron> = LazyLock::new(|| hull(0.0, 1.0, &[(1.0, 1.0), (-1.0, 1.0)]));

/// Vertices at the cyclic shifts of (±1, ±φ, 0); each face belongs to three vertices that are neighbours.
pub(super) static ICOSAHEDRON: LazyLock<Polyhedron> = LazyLock::new(|| {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let mut vertices: Vec<Vector> = Vec::new();
    for shift in 0..3 {
        for (a, b) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
            let mut v = [0.0; 3];
            (v[shift], v[(shift + 1) % 3]) = (a, b);
            vertices.push(v);
        }
    }
    // Neighbours are 2 apart, the next nearest 2φ.
    let near = |a: &Vector, b: &Vector| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>() < 4.1;
    let mut normals = Vec::new();
    for (i, a) in vertices.iter().enumerate() {
        for (j, b) in vertices.iter().enumerate().skip(i + 1).filter(|(_, b)| near(a, b)) {
            for c in vertices.iter().skip(j + 1).filter(|c| near(a, c) && near(b, c)) {
                let sum: Vector = std::array::from_fn(|k| a[k] + b[k] + c[k]);
                let length = dot(&sum, &sum).sqrt();
                normals.push(sum.map(|v| v / length));
            }
        }
    }
    let circumradius = ICOSAHEDRON_CIRCUMRADIUS;
    // In units of the edge: inradius φ²/(2√3), circumradius √(φ²+1)/2.
    let inradius = circumradius * golden * golden / (3.0 * (golden * golden + 1.0)).sqrt();
    Polyhedron { offsets: vec![inradius; normals.len()], normals, circumradius, red: None }
});

pub(super) fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Body {
    /// Largest distance of a point from the origin.
    pub(super) fn radius(&self) -> f64 {
        match self {
            Body::Polyhedron(polyhedron) => polyhedron.circumradius,
            Body::Cone => CONE_APEX.max(1f64.hypot(CONE_BASE)),
            Body::Cylinder { .. } => 2f64.sqrt(),
            Body::MarkedSphere => SPHERE_RADIUS,
        }
    }

    /// A polyhedron around a curved body, if one fits closely.
    pub(super) fn hull(&self) -> Option<&'static Polyhedron> {
        match self {
            Body::Cone => Some(&CONE_HULL),
            Body::Cylinder { .. } => Some(&CYLINDER_HULL),
            Body::Polyhedron(_) | Body::MarkedSphere => None,
        }
    }

    /// The first point of the ray o + s d, s > 0, in the body, seen from outside of it.
    #[inline]
    pub(super) fn trace(&self, o: &Vector, d: &Vector) -> Option<Hit> {
        match self {
            Body::Polyhedron(polyhedron) => polyhedron.trace(o, d),
            Body::Cone => cone(o, d),
            Body::Cylinder { dotted } => cylinder(o, d, *dotted),
            Body::MarkedSphere => sphere(o, d),
        }
    }
}

impl Polyhedron {
    /// # Formula
    /// Each plane bounds s from below where the ray enters its half space, from above where it leaves it.
    fn trace(&self, o: &Vector, d: &Vector) -> Option<Hit> {
        let (mut enter, mut leave, mut face) = (0.0, f64::INFINITY, None);
        for (i, n) in self.normals.iter().enumerate() {
            let (slope, room) = (dot(n, d), self.offsets[i] - dot(n, o));
            if slope < 0.0 {
                if room / slope > enter {
                    (enter, face) = (room / slope, Some(i));
                }
            } else if slope > 0.0 {
                leave = f64::min(leave, room / slope);
            } else if room < 0.0 {
                return None;
            }
        }
        let face = face.filter(|_| enter < leave)?;
        Some(Hit { depth: enter, normal: self.normals[face], paint: self.paint(face) })
    }

    pub(super) fn paint(&self, face: usize) -> Paint {
        if self.red == Some(face) { Paint::Red } else { Paint::Plain }
    }
}

/// The two solutions of a s² + 2 b s + c = 0 in order, for a > 0.
///
/// # Numerics
/// The one that adds numbers of one sign first, the other from the product c/a.
#[inline]
fn roots(a: f64, b: f64, c: f64) -> Option<(f64, f64)> {
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    if b <= 0.0 {
        let far = root - b;
        Some((c / far, far / a))
    } else {
        let near = -b - root;
        Some((near / a, c / near))
    }
}

#[inline]
fn sphere(o: &Vector, d: &Vector) -> Option<Hit> {
    let (near, _) = roots(dot(d, d), dot(o, d), dot(o, o) - SPHERE_RADIUS * SPHERE_RADIUS)?;
    let normal: Vector = std::array::from_fn(|i| (o[i] + near * d[i]) / SPHERE_RADIUS);
    (near > 0.0).then(|| Hit { depth: near, normal, paint: sphere_paint(&normal) })
}

/// The cross has arms along the diagonals of x and y about +z; the dot lies towards +x.
fn sphere_paint(n: &Vector) -> Paint {
    if n[2] <= 0.0 {
        return Paint::Plain;
    }
    let (sin, cos) = CROSS_DOT.0.sin_cos();
    if sin * n[0] + cos * n[2] > CROSS_DOT.1.cos() {
        return Paint::Red;
    }
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let across = (half * (n[0] + n[1])).abs().min((half * (n[0] - n[1])).abs());
    if n[2] > CROSS.0.cos() && across < CROSS.1.sin() { Paint::Blue } else { Paint::Plain }
}

/// The part of the ray inside the infinite tube, cut by that between the two planes.
#[inline]
fn cylinder(o: &Vector, d: &Vector, dotted: bool) -> Option<Hit> {
    let a = d[0] * d[0] + d[1] * d[1];
    let c = o[0] * o[0] + o[1] * o[1] - 1.0;
    let (side_in, side_out) = if a > 0.0 {
        roots(a, o[0] * d[0] + o[1] * d[1], c)?
    } else if c < 0.0 {
        (f64::NEG_INFINITY, f64::INFINITY)
    } else {
        return None;
    };
    let (cap_in, cap_out) = slab(o[2], d[2], 1.0);
    let depth = side_in.max(cap_in);
    if depth >= side_out.min(cap_out) || depth <= 0.0 {
        return None;
    }
    if cap_in > side_in {
        return Some(Hit { depth, normal: [0.0, 0.0, -d[2].signum()], paint: Paint::Plain });
    }
    let normal = [o[0] + depth * d[0], o[1] + depth * d[1], 0.0];
    let red = dotted && normal[0] > 0.0 && {
        let height = o[2] + depth * d[2] - DOT.0;
        let around = normal[1].atan2(normal[0]);
        height * height + around * around < DOT.1 * DOT.1
    };
    Some(Hit { depth, normal, paint: if red { Paint::Red } else { Paint::Plain } })
}

/// Where o + s d lies between −half and half.
#[inline]
fn slab(o: f64, d: f64, half: f64) -> (f64, f64) {
    if d == 0.0 {
        return if o.abs() < half { (f64::NEG_INFINITY, f64::INFINITY) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    }
    let (a, b) = ((-half - o) / d, (half - o) / d);
    (a.min(b), a.max(b))
}

/// # Formula
/// x² + y² = k² (z_a − z)² where z_b ≤ z ≤ z_a, k the slope; and the disc at z_b. The nearest of these is the first point.
#[inline]
fn cone(o: &Vector, d: &Vector) -> Option<Hit> {
    let square = CONE_SLOPE * CONE_SLOPE;
    let (drop, fall) = (CONE_APEX - o[2], -d[2]);
    let a = d[0] * d[0] + d[1] * d[1] - square * fall * fall;
    let b = o[0] * d[0] + o[1] * d[1] - square * drop * fall;
    let c = o[0] * o[0] + o[1] * o[1] - square * drop * drop;
    let mut first = f64::INFINITY;
    let mut consider = |s: f64| {
        let z = o[2] + s * d[2];
        if s > 0.0 && s < first && (CONE_BASE..=CONE_APEX).contains(&z) {
            first = s;
        }
    };
    let discriminant = b * b - a * c;
    if discriminant >= 0.0 {
        // Without a division by a, which may be zero: the ray then meets the surface once.
        let far = if b <= 0.0 { discriminant.sqrt() - b } else { -discriminant.sqrt() - b };
        consider(c / far);
        if a != 0.0 {
            consider(far / a);
        }
    }
    if d[2] > 0.0 && o[2] < CONE_BASE {
        let s = (CONE_BASE - o[2]) / d[2];
        let (x, y) = (o[0] + s * d[0], o[1] + s * d[1]);
        if s <= first && x * x + y * y <= 1.0 {
            return Some(Hit { depth: s, normal: [0.0, 0.0, -1.0], paint: Paint::Plain });
        }
    }
    if first == f64::INFINITY {
        return None;
    }
    let radius = CONE_SLOPE * (drop + first * fall);
    let normal = if radius > 0.0 {
        let scale = CONE_COSINE / radius;
        [scale * (o[0] + first * d[0]), scale * (o[1] + first * d[1]), CONE_SLOPE * CONE_COSINE]
    } else {
        [0.0, 0.0, 1.0]
    };
    Some(Hit { depth: first, normal, paint: Paint::Plain })
}
