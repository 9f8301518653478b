//! Memory of this process outside of the engine's own.

/// Gives the system back what the C library keeps of memory that was freed, in whole pages; true when there was some.
/// Without it the library keeps what lies below anything that lives, for as long as the process runs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn trim() -> bool {
    // SAFETY: malloc_trim takes the allocator's own locks, touches no memory that is in use, and may be called by any thread.
    unsafe { libc::malloc_trim(0) != 0 }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn trim() -> bool {
    false
}
