import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { parseIp, systemClock, systemRandom } from '@mesh/core'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseRoutes } from '../local-network/default-router.ts'
import { askForMapping, mappingNonce } from './ask-for-mapping.ts'
import { decodePortControl, encodePcpMap, PCP_NONCE_BYTES } from './port-control-message.ts'

const NONCE = new Uint8Array(PCP_NONCE_BYTES).fill(7)
const own = parseIp('192.168.1.2')

/** A router on loopback; `answer` gives what it says to a request, and undefined for silence. */
async function router(answer: (request: Buffer) => Uint8Array | undefined) {
  const asked: Buffer[] = []
  const socket = createSocket('udp4')
  socket.on('message', (request, from) => {
    asked.push(request)
    const said = answer(request)
    if (said !== undefined) socket.send(said, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { asked, router: { address: parseIp('127.0.0.1'), port: socket.address().port } }
}

/** What a router says to a PCP request: another port, for half the time. */
function pcpAnswer(request: Buffer): Buffer {
  const answer = Buffer.from(request)
  answer[1] = 0x81
  answer.writeUInt32BE(request.readUInt32BE(4) / 2, 4)
  answer.writeUInt16BE(40_001, 42)
  answer.set([...new Uint8Array(10), 255, 255, 203, 0, 113, 9], 44)
  return answer
}

function natPmpAnswer(request: Buffer): Buffer {
  if (request[0] === 2) return Buffer.from([0, 0x80, 0, 1, 0, 0, 0, 0])
  if (request[1] === 0) return Buffer.from([0, 0x80, 0, 0, 0, 0, 0, 0, 203, 0, 113, 9])
  const answer = Buffer.alloc(16)
  answer.set([0, 0x81])
  answer.set(request.subarray(4, 6), 8)
  answer.writeUInt16BE(40_002, 10)
  answer.writeUInt32BE(600, 12)
  return answer
}

const ask = (given: Awaited<ReturnType<typeof router>>) =>
  askForMapping(
    {
      router: given.router,
      port: 4_700,
      lifetimeS: 1_200,
      nonce: mappingNonce(systemRandom),
      signal: new AbortController().signal,
    },
    systemClock,
  )

describe('a router is asked for a port', () => {
  test('by PCP', async () => {
    const given = await router(pcpAnswer)
    expect(await ask(given)).toEqual({ address: '203.0.113.9', port: 40_001, lifetimeS: 600 })
    expect(given.asked[0]?.length).toBe(60)
  })

  test('by NAT-PMP where it says that it is older', async () => {
    const given = await router(natPmpAnswer)
    expect(await ask(given)).toEqual({ address: '203.0.113.9', port: 40_002, lifetimeS: 600 })
  })

  test('again when a request was lost', async () => {
    let lost = 1
    const given = await router((request) => (lost-- > 0 ? undefined : pcpAnswer(request)))
    expect(await ask(given)).toMatchObject({ port: 40_001 })
    expect(given.asked).toHaveLength(2)
  })

  test('and may refuse', async () => {
    const given = await router((request) => {
      const answer = pcpAnswer(request)
      answer[3] = 2
      return answer
    })
    await expect(ask(given)).rejects.toThrow('the router refused to map a port (2)')
  })
})

describe('a router that lies', () => {
  const answering = (change: (answer: Buffer) => void) =>
    router((request) => {
      const answer = pcpAnswer(request)
      change(answer)
      return answer
    })

  test.each<[string, (answer: Buffer) => void]>([
    ['another port of this machine', (answer) => answer.writeUInt16BE(22, 40)],
    ['port 0 of its own', (answer) => answer.writeUInt16BE(0, 42)],
    ['loopback', (answer) => answer.set([127, 0, 0, 1], 56)],
    ['an address of a group', (answer) => answer.set([239, 1, 2, 3], 56)],
    ['nobody', (answer) => answer.set([0, 0, 0, 0], 56)],
    ['an address of IPv6', (answer) => answer.set([0x20, 1, 0xd, 0xb8], 44)],
  ])('and names %s is not believed', async (_, change) => {
    await expect(ask(await answering(change))).rejects.toThrow('the router does not say where')
  })

  test('does not keep a node from asking again', async () => {
    const given = await answering((answer) => answer.writeUInt32BE(0xff_ff_ff_ff, 4))
    expect(await ask(given)).toMatchObject({ lifetimeS: 1_200 })
  })

  test('and refuses what was not asked is not heard', async () => {
    const refusals = [1, 2, 3]
    const given = await router((request) => {
      const answer = pcpAnswer(request)
      if (refusals.pop() !== undefined) {
        answer[3] = 2
        answer.fill(0, 24, 36)
      }
      return answer
    })
    expect(await ask(given)).toMatchObject({ port: 40_001 })
  })
})

test('answers to somebody else, and bytes that are no answer, are not taken', () => {
  const answer = pcpAnswer(
    Buffer.from(encodePcpMap({ port: 1, external: 1, lifetimeS: 9 }, { own, nonce: NONCE })),
  )
  expect(decodePortControl(answer, NONCE)).toMatchObject({ kind: 'mapped', external: 40_001 })
  expect(decodePortControl(answer, new Uint8Array(PCP_NONCE_BYTES))).toBeUndefined()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const kind = decodePortControl(bytes, NONCE)?.kind
      return kind === undefined || ['refused', 'old', 'mapped', 'address'].includes(kind)
    }),
  )
})

test('the default router with the least metric is found', () => {
  const head = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT'
  const row = (to: string, gateway: string, metric: number, mask: string) =>
    `eth0\t${to}\t${gateway}\t0003\t0\t0\t${metric}\t${mask}\t0\t0\t0`
  const table = [
    head,
    row('0001A8C0', '00000000', 0, '00FFFFFF'),
    row('00000000', 'FE01A8C0', 200, '00000000'),
    row('00000000', '0101A8C0', 100, '00000000'),
    '',
  ]
  expect(parseRoutes(table.join('\n'))).toBe('192.168.1.1')
  expect(parseRoutes(head)).toBeUndefined()
  expect(parseRoutes('')).toBeUndefined()
})
