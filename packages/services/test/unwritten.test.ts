import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePeerId, type PeerId, SharedBytes, systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { splice } from '../src/streams/splice.ts'
import { createStreamPair } from './stream-pair.ts'

const KIB = 1024
const SELF = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const HONEST = parsePeerId('12D3KooWC4T1AXU2s2YBgGJ2FeaYVtsKoHZWJeubnWe9SnuSE7Zb')
const OTHER = parsePeerId('12D3KooWHUf9xhBJrXsVEHzvb1nzHRTpZ1pPLqiKoQuEbAPhRhHr')

/** A target that takes connections and reads nothing; a unix socket, for which the system keeps little. */
async function openDeaf(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-unwritten-'))
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
  const path = join(folder, 'deaf.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  return path
}

test('what waits for targets that do not read is bounded in all, and who has little goes on', async () => {
  const path = await openDeaf()
  const unwritten = new SharedBytes(1_024 * KIB, systemClock)
  const ended: PeerId[] = []
  const fill = (peer: PeerId, bytes: number) => {
    const socket = connect({ path, allowHalfOpen: true })
    const { near, far } = createStreamPair(SELF, peer)
    const served = { unwritten, address: peer === HONEST ? '192.0.2.1' : '192.0.2.66' }
    splice(socket, near, {
      traffic: { bytesIn: 0, bytesOut: 0 },
      served,
      onDone: () => ended.push(peer),
    })
    for (let sent = 0; sent < bytes; sent += 64 * KIB) far.send(new Uint8Array(64 * KIB))
    onTestFinished(() => void socket.destroy())
  }
  fill(HONEST, 448 * KIB)
  await eventually(() => expect(unwritten.bytes).toBeGreaterThan(128 * KIB))
  for (let at = 0; at < 12; at++) fill(OTHER, 512 * KIB)
  await eventually(() => expect(ended.length).toBeGreaterThan(4))
  expect(ended).not.toContain(HONEST)
  expect(unwritten.bytes).toBeLessThanOrEqual(1_024 * KIB)
})
