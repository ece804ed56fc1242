// SPDX-License-Identifier: GPL-2.0-only
//! Numbers that look random, and are the same in each run: what was measured once can be measured
//! again.

#[derive(Clone, Debug, Default)]
pub struct Random(u64);

impl Random {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.word() % limit.max(1)
    }
}
