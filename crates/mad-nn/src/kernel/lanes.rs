//! The registers that a tile of a matrix product is made of.

use super::simd::{PORTABLE_FMA, multiply_add};

/// One vector register of `f32`. A panel is two of them wide.
///
/// # Safety
/// The functions may be called only where the instruction set of the register is enabled: in the variant of a
/// [`for_each_simd`](super::simd::for_each_simd) function that belongs to it.
pub(super) trait Lanes: Copy {
    /// How many lanes there are.
    const LANES: usize;

    /// All lanes zero.
    unsafe fn zero() -> Self;

    /// The first numbers of a slice. Panics if there are too few.
    unsafe fn load(numbers: &[f32]) -> Self;

    /// Writes the lanes to the start of a slice. Panics if it is too short.
    unsafe fn store(self, numbers: &mut [f32]);

    /// `factor` times `right`, plus `self`, lane by lane.
    unsafe fn add_product(self, factor: f32, right: Self) -> Self;
}

/// Four lanes, which every processor's compiler knows how to vectorise.
pub(super) type Portable = [f32; 4];

impl Lanes for Portable {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> Self {
        [0.0; 4]
    }

    #[inline(always)]
    unsafe fn load(numbers: &[f32]) -> Self {
        [numbers[0], numbers[1], numbers[2], numbers[3]]
    }

    #[inline(always)]
    unsafe fn store(self, numbers: &mut [f32]) {
        numbers[..4].copy_from_slice(&self);
    }

    #[inline(always)]
    unsafe fn add_product(self, factor: f32, right: Self) -> Self {
        std::array::from_fn(|i| multiply_add::<PORTABLE_FMA>(factor, right[i], self[i]))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::Lanes;
    use std::arch::x86_64::*;

    macro_rules! lanes {
        ($register:ty, $lanes:literal, $zero:ident, $load:ident, $store:ident, $splat:ident, $fma:ident) => {
            impl Lanes for $register {
                const LANES: usize = $lanes;

                #[inline(always)]
                unsafe fn zero() -> Self {
                    // SAFETY: the caller promises the instruction set.
                    unsafe { $zero() }
                }

                #[inline(always)]
                unsafe fn load(numbers: &[f32]) -> Self {
                    // SAFETY: as above; the slice holds as many numbers as are read.
                    unsafe { $load(numbers[..$lanes].as_ptr()) }
                }

                #[inline(always)]
                unsafe fn store(self, numbers: &mut [f32]) {
                    // SAFETY: as above; the slice holds as many numbers as are written.
                    unsafe { $store(numbers[..$lanes].as_mut_ptr(), self) }
                }

                #[inline(always)]
                unsafe fn add_product(self, factor: f32, right: Self) -> Self {
                    // SAFETY: the caller promises the instruction set.
                    unsafe { $fma($splat(factor), right, self) }
                }
            }
        };
    }

    lanes!(__m256, 8, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps);
    lanes!(__m512, 16, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_fmadd_ps);
}
