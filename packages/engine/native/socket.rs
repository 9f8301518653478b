//! The place of the UDP socket: direct paths between peers, in batches (GSO and GRO), with one socket for
//! WireGuard's datagrams and for the probes that find and keep a path. The next issue fills it. It adds a way,
//! `Way::Udp`, beside those in `table`; sessions, table, segments and filter stay as they are, and a session
//! moves between a stream and the socket without a new handshake.
