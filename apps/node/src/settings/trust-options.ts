/** Options of who may use the network: the peer gate, and administrators. */
import { NODE } from './command-groups.ts'
import { duration, inGroup, path, text, toggle } from './option.ts'

export const trustOptions = inGroup('Trust', NODE, {
  peerguard: toggle({
    default: false,
    help: 'Have a peer gate: let peers into the bucket `trustzone` that prove to hold a key of `trustzoneAuth`.',
  }),
  peergate: toggle({
    default: false,
    help: 'With --peerguard: the gate is on from the start; only peers in `trustzone` may use the network with this node.',
  }),
  peergateRelaxed: toggle({
    default: false,
    help: 'With --peerguard: everybody passes while `trustzone` is empty.',
  }),
  peergateAutoclean: toggle({
    default: false,
    help: 'With --peerguard: take who left out of `trustzone`.',
  }),
  peergateStrict: toggle({
    default: false,
    help: 'With --peerguard: neither take nor send challenges of EdgeVPN-compatible nodes, which can be replayed, and count only entries that go back to this node.',
  }),
  peergateAuth: text({
    placeholder: 'JSON',
    secret: true,
    help: 'With --peerguard: how this node proves itself: {"ecdsa":{"private_key":"KEY"}}, KEY by `mesh peergater ecdsa-genkey`.',
  }),
  peergateInterval: duration({
    default: '120s',
    minMs: 1_000,
    maxMs: 3_600_000,
    help: 'With --peerguard: how often to ask to be trusted, and to take out who left.',
  }),
  invite: text({
    placeholder: 'CODE',
    secret: true,
    help: 'Join a network with administrators by this invite, as its code or link (made by `mesh admin invite`); needed once.',
  }),
  rules: path({
    placeholder: 'FILE',
    help: "This node's own access rules, as a policy with peer ids; they narrow what others may reach here. Read again when the file changes.",
  }),
  rulesDrop: toggle({
    default: false,
    help: 'Drop what access rules refuse without a word: no TCP reset and no ICMP error goes back.',
  }),
  force: toggle({
    commands: ['rules set', 'rules edit'],
    default: false,
    environment: false,
    help: 'Sign the policy although this node may begin nothing any more by it.',
  }),
  ids: toggle({
    commands: ['rules check'],
    default: false,
    environment: false,
    help: 'Print the policy with peer ids in the place of names, for --rules FILE.',
  }),
  adminKey: path({
    commands: [...NODE, 'admin init'],
    placeholder: 'FILE',
    defaultText: "admin.key in the network's state folder",
    help: "Where the administrator's key is kept; a node that has it answers `mesh admin`.",
  }),
})
