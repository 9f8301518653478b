/** An end that many WireGuard peers meet, and is looked at while they have sessions: the engine, or another program. */
import { createLab, type Lab } from '@mesh/testkit'
import { startHost } from '../test/hosts.ts'
import { makePeers, type ManyPeer, startManyPeers } from '../test/many-peers.ts'

/** The address inside of the tunnels at the end that they meet, with its range. */
export const MET_ADDRESS = '10.9.0.1/16'
/** As the engine's test program has it: 32 bytes of 5. */
export const PRESHARED_KEY = Buffer.alloc(32, 5)
const MTU = 1_420
const SECONDS = 6

export type { ManyPeer }

/** An end that stands, in host `left` of its lab. */
export interface MetEnd {
  readonly pid: number
  /** Its public key, base64. */
  readonly key: string
  readonly port: number
  close(): Promise<void>
}

export interface MeetInit {
  readonly count: number
  /** The program `wire-tool`. */
  readonly file: string
  readonly open: (lab: Lab, peers: readonly ManyPeer[]) => Promise<MetEnd>
}

/**
 * Gives what `look` says of the end's process once all peers had answers from it for some seconds.
 *
 * @throws Error when one of them had none
 */
export async function meetMany(init: MeetInit, look: (pid: number) => number): Promise<number> {
  const { count, file, open } = init
  const peers = makePeers(count)
  const lab = createLab(['left', 'right'])
  const end = (host: string, address: string) => ({ host, device: 'eth0', addresses: [address] })
  try {
    lab.wire(end('left', '192.168.9.1/24'), end('right', '192.168.9.2/24'))
    const { pid, key, port, close } = await open(lab, peers)
    try {
      const [target = ''] = MET_ADDRESS.split('/')
      const presharedKey = PRESHARED_KEY.toString('hex')
      const to = { endpoint: `192.168.9.1:${port}`, key, presharedKey, target, seconds: SECONDS }
      const { silent } = await startManyPeers({ lab, host: 'right', file, peers, ...to }).result
      if (silent > 0) throw new Error(`${silent} of ${count} peers had no answer`)
      return look(pid)
    } finally {
      await close()
    }
  } finally {
    lab.close()
  }
}

/** The engine, in a bare process of Node.js. */
export async function openEngineEnd(lab: Lab, peers: readonly ManyPeer[]): Promise<MetEnd> {
  const host = startHost(lab, 'left', {
    name: 'mesh0',
    mtu: MTU,
    addresses: [MET_ADDRESS],
    allowed: [],
    guests: peers.map(({ publicKey, address }) => ({ key: publicKey, address })),
  })
  const { publicKey, port } = await host.next()
  return { pid: host.pid, key: String(publicKey), port: Number(port), close: () => host.kill() }
}
