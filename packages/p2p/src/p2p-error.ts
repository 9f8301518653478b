/** The closed list of what `@mesh/p2p` throws and counts. */

/** Codes of the `MeshError`s that this package throws. */
export type P2pErrorCode =
  | 'p2p.unreachable'
  | 'p2p.not_member'
  | 'p2p.not_admitted'
  | 'p2p.unsupported'
  | 'p2p.channel_closed'
  | 'p2p.message_too_long'
  | 'p2p.not_started'
  | 'p2p.incompatible_library'
  | 'p2p.missing_package'
  | 'p2p.bad_identity'
  | 'p2p.bad_bootstrap_peer'
  | 'p2p.bad_peer_address'
  | 'p2p.bad_listen_address'
  | 'p2p.cannot_listen'

/** Codes of what was refused from others: counted in `P2pNode.refusals()`, told as `refused` events. */
export type RefusalCode =
  /** A channel was opened by a peer that did not prove the network's key. */
  | 'channel.not_member'
  /** A stream was opened by a member that is kept out. */
  | 'channel.not_admitted'
  /** A peer had more channels of a protocol open than its handler allows, or its address more than all there may have. */
  | 'channel.too_many'
  /** A stream came over a relay on a protocol that takes direct ones only. */
  | 'channel.relayed'
  /** A message was longer than the protocol's bound. */
  | 'channel.message_too_long'
  /** A peer's proof of membership was wrong: another key, a replay or a reflection. */
  | 'member.bad_proof'
  /** What came on the member protocol was no handshake. */
  | 'member.malformed'
  /** A handshake was begun and not finished in time. */
  | 'member.unfinished'
  /** More handshakes on a connection than anyone needs. */
  | 'member.too_many'
  /** A gossip message whose author is no Ed25519 peer id. */
  | 'topic.bad_author'
  /** A gossip message whose author is kept out. */
  | 'topic.not_admitted'
  /** More messages on the public topic than one author, one address or all may send. */
  | 'topic.too_many'
  /** A gossip message that is no envelope. */
  | 'topic.bad_envelope'
  /** A gossip message sealed with a key that this network does not have now. */
  | 'topic.bad_seal'
  /** A gossip message longer than the network allows. */
  | 'topic.too_long'
  /** A sealed text that came under another author before. */
  | 'topic.replayed'
  /** A gossip message for which there was no memory or time left, or of which its sender sent too much. */
  | 'topic.overload'
  /** A gossip frame of a peer that is no known member, while others of the kind hold too much already. */
  | 'topic.too_much_held'
  /** A gossip frame that does not decode or is longer than the network allows. */
  | 'topic.bad_frame'
  /** A connection from a range that libp2p keeps out of (the VPN's own). */
  | 'host.blocked_range'
  /** A connection from a peer that is blocked. */
  | 'host.blocked_peer'
  /** A connection that made way for another one: there were too many of its kind. */
  | 'host.too_many'
  /** A peer that had to make way came back before its time. */
  | 'host.too_soon'
  /** Relaying was asked for by, or to, a peer that is no member. */
  | 'relay.not_member'
  /** Relaying was asked for between two members that access rules keep apart. */
  | 'relay.refused_by_rules'
  /** The peers of one address asked for more reservations than these may hold. */
  | 'relay.too_many_reservations'
  /** A peer asked for more circuits than one, or than its address, may hold. */
  | 'relay.too_many_circuits'
  /** What came on the peers protocol does not decode. */
  | 'peers.bad_message'
  /** A peer record whose signature is wrong. */
  | 'peers.bad_record'
  /** More messages, or more new records, on the peers protocol than anyone needs. */
  | 'peers.too_many'
  /** A member's report of its paths is no such report. */
  | 'paths.bad_message'
  /** A member asked for this node's paths more often than anyone needs. */
  | 'paths.too_many'
  /** A TLS handshake of the bulk path by a known identity failed: a wrong key, a replay, or it took too long. */
  | 'bulk.bad_handshake'
  /** More handshakes or connections of the bulk path than one address, one peer, or all may have. */
  | 'bulk.too_many'
