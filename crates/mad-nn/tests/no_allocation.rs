//! The kernel that answers samplers takes no memory after the first time. What is around it does: a few numbers per row.

use mad_nn::kernel::{
    Activation, Plan,
    forward::{Forward, Scratch},
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Counts the requests of each thread.
struct Counting;

// SAFETY: passes everything on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn evaluation_allocates_only_the_first_time() {
    let plan = Plan::new(&[4, 96, 96, 3], Activation::Sin);
    let network = Forward::new(plan.clone(), &vec![0.01; plan.len()]);
    let (rows, directions) = (300, 3);
    let (input, tangents) = (vec![0.5; rows * 4], vec![0.1; directions * rows * 4]);
    let (mut out, mut out_tangents) = (vec![0.0; rows * 3], vec![0.0; directions * rows * 3]);
    let mut scratch = Scratch::default();
    let mut requests = || {
        let before = COUNT.with(Cell::get);
        network.eval(&input, rows, &mut scratch, &mut out);
        network.eval_tangents(&input, &tangents, directions, rows, &mut scratch, &mut out, &mut out_tangents);
        COUNT.with(Cell::get) - before
    };
    assert!(requests() > 0, "the counter must see the buffers grow");
    assert_eq!(requests(), 0);
}
