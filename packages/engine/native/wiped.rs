//! Values with keys inside whose own types leave them behind in memory.
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};
use zeroize::Zeroize;

/// A value whose memory is overwritten with zeros when it is dropped. What it owns elsewhere is not: that is its own
/// matter.
pub struct Wiped<T>(ManuallyDrop<T>);

impl<T> Wiped<T> {
    pub fn new(value: T) -> Wiped<T> {
        Wiped(ManuallyDrop::new(value))
    }
}

impl<T> Deref for Wiped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Wiped<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Wiped<T> {
    fn drop(&mut self) {
        // SAFETY: this is the only place that drops it, and nothing uses it afterwards.
        unsafe { ManuallyDrop::drop(&mut self.0) };
        let place = (&raw mut self.0).cast::<MaybeUninit<u8>>();
        // SAFETY: the place is this value's own, as long as the value was, and nothing lives in it any more.
        unsafe { std::slice::from_raw_parts_mut(place, size_of::<T>()) }.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    struct Keys {
        bytes: [u8; 64],
        _owned: Arc<()>,
    }

    #[test]
    fn nothing_of_a_value_is_left_and_what_it_owns_is_dropped() {
        let owned = Arc::new(());
        let mut place = MaybeUninit::new(Wiped::new(Keys { bytes: [7; 64], _owned: owned.clone() }));
        // SAFETY: it was just made.
        assert_eq!(unsafe { place.assume_init_ref() }.bytes, [7; 64]);
        // SAFETY: it is dropped once, and not used afterwards.
        unsafe { place.assume_init_drop() };
        assert_eq!(Arc::strong_count(&owned), 1);
        // SAFETY: dropping wrote every byte of the place.
        let left = unsafe { std::ptr::read(place.as_ptr().cast::<[u8; size_of::<Keys>()]>()) };
        assert_eq!(left, [0; size_of::<Keys>()]);
    }
}
