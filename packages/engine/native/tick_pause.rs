//! The wait between two ticks of the timers, which ends early when the engine stops.
use crate::limits::TICK;
use parking_lot::{Condvar, Mutex};

#[derive(Default)]
pub struct TickPause(Mutex<()>, Condvar);

impl TickPause {
    pub fn interrupt(&self) {
        let _guard = self.0.lock();
        self.1.notify_all();
    }

    /// Waits for one tick. False: the engine stops.
    pub fn wait(&self, stopping: impl Fn() -> bool) -> bool {
        let mut guard = self.0.lock();
        if stopping() {
            return false;
        }
        self.1.wait_for(&mut guard, TICK);
        true
    }
}
