//! The filter as the engine calls it: packets of all kinds in both directions, rules that change, and members that cheat.
mod hostile;
mod lab;
mod properties;
mod stories;
mod twin;
mod weights;
