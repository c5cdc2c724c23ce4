//! How often a piece of work allocates: a count that is the same on every machine.

/// Allocations of this thread while it works. None in a release, whose allocator is the proxy's and does not count.
#[cfg(debug_assertions)]
pub(crate) fn allocations(work: impl FnOnce()) -> Option<u64> {
    Some(allocation_counter::measure(work).count_total)
}

/// Allocations of this thread while it works. None in a release, whose allocator is the proxy's and does not count.
#[cfg(not(debug_assertions))]
pub(crate) fn allocations(_work: impl FnOnce()) -> Option<u64> {
    None
}
