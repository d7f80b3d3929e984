//! The choice of instruction set at run time.

use std::sync::OnceLock;

use super::lanes::Lanes;

/// An instruction set that this processor is known to have.
///
/// Values exist only for detected sets, so that holding one is the proof the compiled variants need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Simd {
    /// The widest set of this processor, detected once.
    ///
    /// `MAD_SIMD=portable`, `avx2` or `avx512` in the environment sets an upper limit.
    pub fn best() -> Self {
        static BEST: OnceLock<Simd> = OnceLock::new();
        *BEST.get_or_init(|| {
            let limit = std::env::var("MAD_SIMD").ok();
            let allowed = |simd: &Simd| limit.as_deref().and_then(rank).is_none_or(|limit| simd.0 as usize <= limit);
            Self::available().into_iter().rfind(allowed).unwrap_or(Self::portable())
        })
    }

    /// Whether `MAD_SIMD` may have this value.
    pub fn is_known(name: &str) -> bool {
        rank(name).is_some()
    }

    /// The set every processor of the target has.
    pub fn portable() -> Self {
        Self(Level::Portable)
    }

    /// All sets of this processor, narrowest first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut sets = vec![Self::portable()];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            sets.push(Self(Level::Avx2));
            if is_x86_feature_detected!("avx512f") {
                sets.push(Self(Level::Avx512));
            }
        }
        sets
    }

    /// Its name, as `MAD_SIMD` knows it.
    pub fn name(self) -> &'static str {
        NAMES[self.0 as usize]
    }

    /// Whether multiply-adds are rounded once. Sets for which this is true give the same bits.
    #[cfg(test)]
    pub(crate) fn fuses(self) -> bool {
        fuses(self)
    }

    /// Columns of a panel, P of the tiles in [`for_each_simd`].
    pub(crate) fn panel_columns(self) -> usize {
        panel_columns(self)
    }

    pub(super) fn level(self) -> Level {
        self.0
    }
}

/// Names in the order of [`Level`].
const NAMES: [&str; 3] = ["portable", "avx2", "avx512"];

fn rank(name: &str) -> Option<usize> {
    NAMES.iter().position(|&known| known.eq_ignore_ascii_case(name))
}

/// Whether the portable variant may use fused multiply-add without calling a library function.
pub(super) const PORTABLE_FMA: bool = cfg!(target_arch = "aarch64");

/// a b + c, fused when the instruction set has it.
#[inline(always)]
pub(super) fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Defines a function that runs one generic body compiled for each instruction set.
///
/// The body is `#[inline(always)]`; the compiler vectorises it anew in each variant. It is generic over `const FMA: bool`, or, if
/// the definition starts with `tiled`, over the registers, rows and columns of a tile of a matrix product as well:
/// `L: Lanes, const M: usize, const P: usize, const FMA: bool`. A tile fills the registers of the set: its M P sums, P numbers of the
/// right factor and one of the left.
macro_rules! for_each_simd {
    (tiled $(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:ident) => {
        $crate::kernel::simd::for_each_simd! {
            @variants [$crate::kernel::lanes::Portable, 4, 8, { $crate::kernel::simd::PORTABLE_FMA }]
            [std::arch::x86_64::__m256, 6, 16, true] [std::arch::x86_64::__m512, 12, 32, true]
            $(#[$meta])* $visibility fn $name($($argument: $type),*) $(-> $result)? = $body
        }
    };
    (@variants [$($portable:tt)*] [$($avx2:tt)*] [$($avx512:tt)*]
     $(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:ident) => {
        $(#[$meta])*
        $visibility fn $name(simd: $crate::kernel::simd::Simd, $($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($argument: $type),*) $(-> $result)? {
                $body::<$($avx2)*>($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512($($argument: $type),*) $(-> $result)? {
                $body::<$($avx512)*>($($argument),*)
            }
            match simd.level() {
                $crate::kernel::simd::Level::Portable => $body::<$($portable)*>($($argument),*),
                // SAFETY: a `Simd` of this level exists only after the features were detected.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::simd::Level::Avx2 => unsafe { avx2($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::simd::Level::Avx512 => unsafe { avx512($($argument),*) },
            }
        }
    };
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:ident) => {
        $crate::kernel::simd::for_each_simd! {
            @variants [{ $crate::kernel::simd::PORTABLE_FMA }] [true] [true]
            $(#[$meta])* $visibility fn $name($($argument: $type),*) $(-> $result)? = $body
        }
    };
}
pub(super) use for_each_simd;

#[inline(always)]
fn panel_columns_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>() -> usize {
    P
}

for_each_simd! {
    tiled fn panel_columns() -> usize = panel_columns_body
}

#[cfg(test)]
#[inline(always)]
fn fuses_body<const FMA: bool>() -> bool {
    FMA
}

#[cfg(test)]
for_each_simd! {
    fn fuses() -> bool = fuses_body
}
