/** Checks of this machine that need no running node. */
import { type Check, fail, ok, skip, warn } from './check.ts'
import type { MachineFacts, NodeFacts } from './facts.ts'

/** The node sends packets of the VPN over UDP where packets of this many bytes pass. */
const LEAST_MTU = 1_280
/** A node with a hundred peers has some three hundred files open, and its API some for each client. */
const ENOUGH_FILES = 1_024

/** @param node the running node, where there is one */
export function checkMachine(machine: MachineFacts, node: NodeFacts | undefined): readonly Check[] {
  return [
    checkToken(machine, node),
    checkState(machine),
    ...checkDevice(machine, node),
    checkPorts(machine, node),
    checkFiles(machine),
    checkInterfaces(machine, node),
    ...checkIpv6(machine, node),
    checkResolver(machine),
    ...checkExit(machine, node),
  ]
}

function checkToken({ network, exposedToken }: MachineFacts, node: NodeFacts | undefined): Check {
  if (network === undefined) {
    if (node !== undefined) return ok('token', `The running node is in network ${node.node.Network}.`)
    return warn(
      'token',
      'No network is named.',
      'Give --token-file FILE, or make a network: mesh -g -b > mesh.token && chmod 600 mesh.token.',
    )
  }
  if ('error' in network) return fail('token', sentence(network.error), network.hint)
  if (node !== undefined && node.node.Network !== network.id) {
    return fail(
      'token',
      `The token names network ${network.id}, and the running node is in ${node.node.Network}.`,
      'Restart the node with this token, or name the other one.',
    )
  }
  if (exposedToken !== undefined) {
    return warn(
      'token',
      sentence(exposedToken),
      'The command at its end closes the file, or its folder, to others.',
    )
  }
  return ok('token', `It names network ${network.id}.`)
}

function checkState({ stateDir: { path, writing } }: MachineFacts): Check {
  if (writing.works) return ok('state', `${path} can be written.`)
  return fail(
    'state',
    `${path} cannot be used: ${writing.reason}.`,
    'Identity and ledger are kept there: make it writable for the user of the node and for nobody else, make room on its disk, or give another --state-dir.',
  )
}

/** The device and the right to use it; a node without an interface needs neither. */
function checkDevice({ support, wireguard }: MachineFacts, node: NodeFacts | undefined): readonly Check[] {
  if (support.supported) {
    return [
      ok(
        'device',
        wireguard === 'kernel'
          ? "A network interface can be made: the kernel's WireGuard is there."
          : 'A network interface can be made: /dev/net/tun and the engine are there.',
      ),
      ok('privileges', 'This user may make network interfaces.'),
    ]
  }
  const isPrivilege = support.code === 'engine.no_permission'
  const needsNone = node?.node.HasVpn === false
  const say = needsNone ? warn : fail
  const found = sentence(
    needsNone ? `${support.message}, which only a node with a VPN needs` : support.message,
  )
  const next = `${support.hint} \`mesh api\` and \`mesh start\` need no interface.`.trim()
  return isPrivilege
    ? [ok('device', 'The engine is there.'), say('privileges', found, next)]
    : [say('device', found, next), skip('privileges', 'Not looked at: there is no device.')]
}

function checkPorts({ ports: { tcp, udp }, places }: MachineFacts, node: NodeFacts | undefined): Check {
  const failed = [...(tcp.works ? [] : [`TCP: ${tcp.reason}`]), ...(udp.works ? [] : [`UDP: ${udp.reason}`])]
  if (failed.length > 0) {
    return fail(
      'ports',
      `Nothing can listen here (${failed.join('; ')}).`,
      'Look for a sandbox, a seccomp filter or a limit on open files.',
    )
  }
  const refused = places.flatMap(({ option, isDefault, tried }) =>
    tried.works ? [] : [{ isDefault, text: `${tried.reason} (${option})` }],
  )
  if (node !== undefined || refused.length === 0)
    return ok('ports', 'This user may listen on TCP and UDP ports.')
  const say = refused.every(({ isDefault }) => isDefault) ? warn : fail
  return say(
    'ports',
    `No node could listen there: ${refused.map(({ text }) => text).join('; ')}.`,
    'If another program has the port, `ss -lntup` names it; ports below 1024 need root, or CAP_NET_BIND_SERVICE. Or give the option another address.',
  )
}

function checkFiles({ maxFiles }: MachineFacts): Check {
  if (maxFiles === undefined) return skip('open files', 'The system does not say how many are allowed.')
  const found = `A process of this user may have ${maxFiles} files open.`
  if (maxFiles >= ENOUGH_FILES) return ok('open files', found)
  return warn(
    'open files',
    found,
    `Allow at least ${ENOUGH_FILES}: ulimit -n ${ENOUGH_FILES}, or LimitNOFILE= in the unit of systemd.`,
  )
}

function checkInterfaces({ interfaces: all }: MachineFacts, node: NodeFacts | undefined): Check {
  // the VPN's own leads nowhere without another
  const interfaces = all.filter(({ name }) => name !== node?.vpn?.Interface)
  if (interfaces.length === 0) {
    return fail(
      'interfaces',
      'No interface but loopback and the VPN has an address.',
      'Connect this machine to a network: it can reach nobody.',
    )
  }
  const small = interfaces.filter(({ mtu }) => mtu !== undefined && mtu < LEAST_MTU)
  const list = (some: typeof interfaces) =>
    some.map(({ name, mtu }) => `${name} (${mtu ?? 'unknown'})`).join(', ')
  if (small.length === 0) return ok('interfaces', `Interfaces with their MTU: ${list(interfaces)}.`)
  return warn(
    'interfaces',
    `The MTU is below ${LEAST_MTU} on ${list(small)}.`,
    `Packets of the VPN go by streams there, which is slower: raise it to ${LEAST_MTU} or more (ip link set dev NAME mtu N).`,
  )
}

/** A node that runs says itself that its interface has none. */
function checkIpv6({ hasIpv6 }: MachineFacts, node: NodeFacts | undefined): readonly Check[] {
  if (node !== undefined) return []
  if (hasIpv6) return [ok('ipv6', 'A new interface gets IPv6.')]
  return [
    warn(
      'ipv6',
      'IPv6 is switched off on this machine: the interface of a VPN gets IPv4 only.',
      'Switch it on: sysctl -w net.ipv6.conf.default.disable_ipv6=0 (where the kernel has no such setting: boot without ipv6.disable=1). If this machine is to have no IPv6, there is nothing to do.',
    ),
  ]
}

function checkResolver({ ownName, nameServers }: MachineFacts): Check {
  const silent = nameServers.flatMap(({ address, tried }) =>
    tried.works ? [] : [`${address} (${tried.reason})`],
  )
  if (silent.length > 0) {
    return warn(
      'resolver',
      `${silent.length === nameServers.length ? 'None' : 'Not each'} of this machine's DNS servers answers: ${silent.join(', ')}.`,
      'Look at /etc/resolv.conf: without DNS only peers that are named by address, or found on the local network, are met.',
    )
  }
  if (ownName.works) return ok('resolver', "This machine's resolver answers for its own name.")
  return warn(
    'resolver',
    `This machine's resolver does not know its own name (${ownName.reason}).`,
    'Add the name to /etc/hosts, and look whether /etc/resolv.conf names a server that answers.',
  )
}

/** A node that runs says itself what disturbs its exit. */
function checkExit({ exit }: MachineFacts, node: NodeFacts | undefined): readonly Check[] {
  if (exit === undefined || node !== undefined) return []
  if (exit.length === 0) return [ok('exit', 'Nothing of this machine disturbs an exit node.')]
  return exit.map(({ severity, title, hint }) =>
    (severity === 'error' ? fail : warn)('exit', sentence(title), hint),
  )
}

/** CleanUps with a full stop and begins with a capital. */
export function sentence(text: string): string {
  const whole = text.endsWith('.') ? text : `${text}.`
  return whole.charAt(0).toUpperCase() + whole.slice(1)
}
