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

/// Has the C library take each block of at least so many bytes from the system by itself, and give it back when it is freed.
/// The library raises that bound as large blocks are freed, up to 32 MiB, and keeps what it then has among the small ones.
/// False where it has no such call.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn map_blocks_from(bytes: i32) -> bool {
    // SAFETY: mallopt takes the allocator's own locks, changes a setting alone, and may be called by any thread.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, bytes) == 1 }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn map_blocks_from(_bytes: i32) -> bool {
    false
}
