/** LegacyNode nodes as processes of their own, kept to loopback, for tests of living together. */
import { type ChildProcess, spawn } from 'node:child_process'
import { gunzipSync, gzipSync } from 'node:zlib'
import { encodeToken, type NetworkConfig } from '@mesh/network'
import { eventually, freePort } from '@mesh/testkit'

/** Path of EdgeVPN's binary; undefined: the tests that need it are skipped. */
export const LEGACY_BINARY = process.env.EDGEVPN_BIN

export interface LegacyNode {
  /** Where it listens, with its id; undefined when it was not given a port. */
  readonly address: string
  put(bucket: string, key: string, value: string): Promise<void>
  /** Keys of a bucket that it holds now. */
  keys(bucket: string): Promise<readonly string[]>
  stop(): Promise<void>
}

export async function startLegacyNode(
  config: NetworkConfig,
  bootstrap: readonly string[],
): Promise<LegacyNode> {
  const [apiPort, port] = [await freePort(), await freePort()]
  const off = ['mdns', 'dht', 'autorelay', 'holepunch', 'natservice', 'natmap', 'relay-service']
  const args = [
    'api',
    `--listen=127.0.0.1:${apiPort}`,
    `--listen-maddrs=/ip4/127.0.0.1/tcp/${port}`,
    ...off.map((flag) => `--${flag}=false`),
    ...bootstrap.map((address) => `--discovery-bootstrap-peers=${address}`),
    '--log-level=debug',
  ]
  const child = spawn(LEGACY_BINARY ?? '', args, {
    env: { HOME: '/nonexistent', EDGEVPNTOKEN: encodeToken(config) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = collect(child)
  const base = `http://127.0.0.1:${apiPort}/api`
  await eventually(async () => void (await fetch(`${base}/ledger`)), { withinMs: 10_000, everyMs: 50 })
  const id = /12D3KooW\w{44}/.exec(log())?.[0]
  return {
    address: `/ip4/127.0.0.1/tcp/${port}/p2p/${id}`,
    async put(bucket, key, value) {
      const response = await fetch(`${base}/ledger/${bucket}/${key}/${value}`, { method: 'PUT' })
      if (!response.ok) throw new Error(`PUT answered ${response.status}`)
    },
    async keys(bucket) {
      const held = (await (await fetch(`${base}/ledger/${bucket}`)).json()) as Record<string, unknown>
      return Object.keys(held ?? {})
    },
    stop: () => stop(child),
  }
}

/** A block with one entry in a bucket without rules, as any member may send it. */
export function buildBlock(bucket: string, key: string, author: string): Uint8Array {
  const entry = { Value: '"x"', Owner: author, Version: 1, UpdatedAt: 1, Deleted: false, Sig: null }
  const block = { Index: 0, Timestamp: '', Storage: { [bucket]: { [key]: entry } }, Hash: '', PrevHash: '' }
  return gzipSync(JSON.stringify(block))
}

/** The keys that a block holds in a bucket. */
export function keysOfBlock(plaintext: Uint8Array, bucket: string): readonly string[] {
  const block = JSON.parse(gunzipSync(plaintext).toString()) as {
    Storage?: Record<string, Record<string, unknown>>
  }
  return Object.keys(block.Storage?.[bucket] ?? {})
}

function collect(child: ChildProcess): () => string {
  let text = ''
  const add = (chunk: Buffer) => {
    if (text.length < 100_000) text += chunk.toString()
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  return () => text
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}
