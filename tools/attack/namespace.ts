/**
 * Attacks on a node with a VPN, or from its local network, made in a network namespace of their own, where its interface and
 * its routes stay: 1 a namespace with loopback, with a link to strangers that takes all and answers nothing, and one to a
 * neighbour, 2 the attack with victim and attackers in it, by a process of its own, 3 what that process measured.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { engineSupport } from '@mesh/engine'
import { createLab, whyNoNamespaces } from '@mesh/testkit'
import type { Measured, Scenario } from './scenario.ts'
import type { TargetKind } from './scenario.ts'

const [HOST, ELSEWHERE, NEIGHBOUR] = ['attack', 'elsewhere', 'neighbour']
/** The name by which the process inside is told the neighbour's namespace. */
const NEIGHBOUR_NAME = 'MESH_ATTACK_NEIGHBOUR'
/** The victim's own address on its local network. */
export const LOCAL_ADDRESS = '192.168.77.2'
/** The addresses of the neighbour there. */
export const NEIGHBOUR_ADDRESSES: readonly string[] = ['.1', '.10', '.11', '.12', '.254'].map(
  (last) => `192.168.77${last}`,
)
/** The link to strangers, and this machine's own address on it. */
const LINK = 'strangers'
/** The address at which the victim's socket is reached, as one on loopback is told to nobody. */
export const VICTIM_ADDRESS = '198.51.100.1'

/** An address of a stranger, to whom packets lead over a link that counts them. @param at from 0 to 252 */
export const strangerAddress = (at: number) => `198.51.100.${2 + at}`

/** How many packets went to strangers so far; only inside of the namespace. */
export function packetsToStrangers(): number {
  return Number(readFileSync(`/sys/class/net/${LINK}/statistics/tx_packets`, 'utf8'))
}

/** The words that run a program at the neighbour; only inside of the namespace. */
export function atNeighbour(words: readonly string[]): readonly [string, ...string[]] {
  return ['ip', 'netns', 'exec', process.env[NEIGHBOUR_NAME] ?? '', ...words]
}

/** Undefined when this machine can make attacks from the local network, else the reason why not. */
export function whyNoNeighbourAttacks(): string | undefined {
  return whyNoNamespaces(['ip'])
}

/** Undefined when this machine can make these attacks, else the reason why not. */
export function whyNoVpnAttacks(): string | undefined {
  const support = engineSupport()
  return whyNoNamespaces(['ip']) ?? (support.supported ? undefined : support.message)
}

/** Runs one attack by this same program inside of a namespace. */
export async function runInNamespace(
  { name }: Scenario,
  seconds: number,
  kind: TargetKind = 'mesh',
): Promise<Measured> {
  const lab = createLab([HOST, ELSEWHERE, NEIGHBOUR])
  try {
    const link = { host: HOST, device: LINK, addresses: [`${VICTIM_ADDRESS}/24`] }
    lab.wire(link, { host: ELSEWHERE, device: LINK, addresses: [] })
    // nobody is asked for who has an address, and all packets leave
    lab.run(HOST, ['ip', 'link', 'set', LINK, 'arp', 'off'])
    lab.wire(
      { host: HOST, device: 'lan', addresses: [`${LOCAL_ADDRESS}/24`] },
      { host: NEIGHBOUR, device: 'lan', addresses: NEIGHBOUR_ADDRESSES.map((address) => `${address}/24`) },
    )
    const main = ['--conditions=mesh-source', `${import.meta.dirname}/main.ts`]
    const words = [
      process.execPath,
      ...main,
      name,
      `--seconds=${seconds}`,
      `--target=${kind}`,
      '--json',
      '--in-namespace',
    ]
    const [file, ...args] = lab.inside(HOST, words)
    const env = { ...process.env, [NEIGHBOUR_NAME]: lab.name(NEIGHBOUR) }
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, said] = await Promise.all([text(child.stdout), text(child.stderr)])
    if (out === '') throw new Error(`${name} measured nothing:\n${said}`)
    // JSON has no infinity, and writes null
    const measured = JSON.parse(out, (_, value: unknown) => value ?? Infinity) as Measured[]
    const [first] = measured
    if (first === undefined) throw new Error(`${name} measured nothing:\n${said}`)
    return first
  } finally {
    lab.close()
  }
}
