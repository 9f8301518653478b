/** Why the VPN drops packets, in words for people. The names are those of `Drops` in the views of the VPN. */
export interface DropReason {
  readonly direction: 'out' | 'in' | 'both'
  /** One sentence that says what happened. */
  readonly title: string
  /** Names the next step. */
  readonly hint: string
  /** False for packets that no VPN of this kind carries. */
  readonly isLoss?: boolean
}

const OLD_PACKETS = 'Nothing to do: this happens after restarts and on paths that change.'
const ATTACK = 'Nothing to do: the packet was refused. Many of them mean that somebody attacks the port.'

export const DROP_REASONS: Readonly<Record<string, DropReason>> = {
  noRoute: {
    direction: 'out',
    title: 'No machine has the destination address.',
    hint: 'See `mesh machines`. A network behind a member needs --accept-routes here.',
  },
  multicast: {
    direction: 'both',
    title: 'The VPN carries no multicast and no broadcast.',
    hint: 'Nothing to do: every system sends some.',
    isLoss: false,
  },
  malformed: { direction: 'both', title: 'The packet has an impossible header or length.', hint: ATTACK },
  tooBig: {
    direction: 'out',
    title: "The packet is longer than the tunnel's MTU. The sender was told.",
    hint: 'Nothing to do for TCP. Other programs must allow fragmentation, or use a smaller --mtu on all machines.',
  },
  noSession: {
    direction: 'out',
    title: 'Too many packets waited for the first connection to a machine.',
    hint: 'See why it is not reached: `mesh ping MACHINE --path`.',
  },
  outboundFull: {
    direction: 'out',
    title: "The machine's stream is slower than the packets.",
    hint: 'See why packets do not go over UDP: `mesh ping MACHINE --path`.',
  },
  stale: {
    direction: 'both',
    title: 'The tunnel or its key changed while the packet waited.',
    hint: OLD_PACKETS,
  },
  inboundFull: {
    direction: 'in',
    title: 'Packets came faster than this machine decrypts them.',
    hint: 'See the load of this machine. --tun-queues uses more cores.',
  },
  badFrame: {
    direction: 'in',
    title: 'A stream of packets broke its format.',
    hint: 'Use the same version of mesh on both machines.',
  },
  notSealed: { direction: 'in', title: 'The message is not WireGuard.', hint: ATTACK },
  unknownSession: {
    direction: 'in',
    title: 'The message belongs to a session that has ended.',
    hint: OLD_PACKETS,
  },
  badSeal: { direction: 'in', title: 'The encryption of the packet is wrong.', hint: ATTACK },
  replayed: { direction: 'in', title: 'The packet came before, or too late.', hint: OLD_PACKETS },
  handshakeRefused: {
    direction: 'in',
    title: "A handshake did not prove the machine's key.",
    hint: 'If it does not stop, restart the node on the other machine.',
  },
  handshakeLimit: { direction: 'in', title: 'More handshakes came than a machine needs.', hint: ATTACK },
  noTunnel: {
    direction: 'in',
    title: 'The packet came before this node knew the kind of tunnel.',
    hint: OLD_PACKETS,
  },
  unknownPeer: {
    direction: 'in',
    title: 'The sender has no machine in the ledger.',
    hint: 'It may have just joined or left: see `mesh machines`.',
  },
  spoofedSource: {
    direction: 'in',
    title: 'The source address does not belong to the sender.',
    hint: 'A network behind the sender needs --advertise-routes there and --accept-routes here.',
  },
  notForUs: {
    direction: 'in',
    title: 'The destination is neither this machine nor behind it.',
    hint: 'To forward, this machine needs --advertise-routes or --advertise-exit.',
  },
  refusedByRules: {
    direction: 'both',
    title: 'The rules do not allow it.',
    hint: 'See who may reach what: `mesh rules show`.',
    isLoss: false,
  },
  deviceRefused: {
    direction: 'in',
    title: 'The kernel did not take the packet.',
    hint: 'See the interface: `ip -s link show mesh0`.',
  },
  notSent: {
    direction: 'out',
    title: "The UDP socket's buffer is full, or the path does not take that length.",
    hint: 'See the path and its MTU: `mesh ping MACHINE --path`.',
  },
  probeRefused: { direction: 'in', title: 'A probe of a path was forged or repeated.', hint: ATTACK },
  datagramLimit: { direction: 'in', title: 'Too many datagrams came that are no WireGuard.', hint: ATTACK },
}
