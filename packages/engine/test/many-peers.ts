/** Many stock WireGuard peers in one process (`wire-tool peers`), for one engine or another WireGuard. */
import { generateKeyPairSync } from 'node:crypto'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Lab } from '@mesh/testkit'

const KEY_BYTES = 32

/** One of the peers: its keys and the address that it has inside the tunnel. */
export interface ManyPeer {
  /** Hexadecimal. */
  readonly privateKey: string
  /** Base64. */
  readonly publicKey: string
  /** IPv4. */
  readonly address: string
}

/** Makes up to 250 peers, with 10.9.1.1 and what follows. */
export function makePeers(count: number): readonly ManyPeer[] {
  return Array.from({ length: count }, (_, at) => {
    const { privateKey, publicKey } = generateKeyPairSync('x25519')
    const [pkcs8, spki] = [
      privateKey.export({ format: 'der', type: 'pkcs8' }),
      publicKey.export({ format: 'der', type: 'spki' }),
    ]
    return {
      privateKey: pkcs8.subarray(-KEY_BYTES).toString('hex'),
      publicKey: spki.subarray(-KEY_BYTES).toString('base64'),
      address: `10.9.1.${at + 1}`,
    }
  })
}

export interface ManyPeersInit {
  readonly lab: Lab
  readonly host: string
  /** The program `wire-tool`. */
  readonly file: string
  /** `192.168.9.1:51820` */
  readonly endpoint: string
  /** The other end's public key, base64. */
  readonly key: string
  /** 32 bytes, hexadecimal. */
  readonly presharedKey: string
  /** The address inside the tunnel that they ping once a second. */
  readonly target: string
  readonly seconds: number
  readonly peers: readonly ManyPeer[]
}

/** What they saw. */
export interface ManyPeersResult {
  readonly peers: number
  readonly sessions: number
  readonly sent: number
  readonly answered: number
  /** Those that got no answer at all. */
  readonly silent: number
}

export interface ManyPeers {
  /** Resolves when each has a session. */
  readonly ready: Promise<void>
  /** Resolves when their time is over. */
  readonly result: Promise<ManyPeersResult>
}

/** Starts them; they end by themselves. */
export function startManyPeers(init: ManyPeersInit): ManyPeers {
  const { lab, host, file, endpoint, key, presharedKey, target, seconds, peers } = init
  const hex = Buffer.from(key, 'base64').toString('hex')
  const [command, ...words] = lab.inside(host, [file, 'peers', endpoint, hex, target, String(seconds)])
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'pipe'] })
  const noise = text(child.stderr)
  const lines = peers.map(({ privateKey, address }) => `${privateKey} ${presharedKey} ${address}`)
  child.stdin.end(lines.join('\n'))
  const ready = Promise.withResolvers<void>()
  const result = Promise.withResolvers<ManyPeersResult>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as ManyPeersResult | { readonly ready: true }
    if ('ready' in said) ready.resolve()
    else result.resolve(said)
  })
  child.once('close', () => {
    void noise.then((said) => {
      const error = new Error(`the peers ended: ${said}`)
      ready.reject(error)
      result.reject(error)
    })
  })
  ready.promise.catch(() => {})
  result.promise.catch(() => {})
  return { ready: ready.promise, result: result.promise }
}
