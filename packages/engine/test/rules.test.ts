/** Rules with the real kernel at both ends: what its sockets hear of refusals, fragments, and a change under way. */
import { join } from 'node:path'
import { eventually, whyNoNamespaces } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineSupport, type PacketMatch, type PacketRules } from '../src/index.ts'
import { createPair, type Host, type Pair, startProgram } from './hosts.ts'
import { parseCidr } from '@mesh/core'

const why = whyNot()
const OPEN = 7_001
const CLOSED = 7_002
const [LEFT, RIGHT, LEFT6, RIGHT6] = ['10.9.0.1', '10.9.0.2', 'fd09::1', 'fd09::2']

describe.skipIf(why !== undefined)(
  `rules between two namespaces${why === undefined ? '' : ` (skipped: ${why})`}`,
  { timeout: 30_000 },
  () => {
    let pair: Pair
    let left: Host
    let right: Host
    beforeAll(async () => {
      pair = await createPair()
      const program = join(import.meta.dirname, 'socket-program.ts')
      ;[left, right] = [startProgram(pair.lab, 'left', [program]), startProgram(pair.lab, 'right', [program])]
      for (const host of [left, right]) for (const port of [OPEN, CLOSED]) await host.ask(`listen ${port}`)
      await rule(leftMay('tcp', 'udp'))
    })
    afterAll(async () => {
      for (const host of [left, right]) await host?.kill()
      await pair?.close()
    })

    it.each([
      ['tcp', RIGHT, 'ECONNREFUSED'],
      ['tcp', RIGHT6, 'ECONNREFUSED'],
      ['udp', RIGHT, 'EHOSTUNREACH'],
      ['udp', RIGHT6, 'EACCES'],
    ])('lets %s to %s pass where it may, and says %s where not', async (protocol, to, code) => {
      expect(await left.ask(`${protocol} ${to} ${OPEN} 500`)).toEqual({ result: 'echo' })
      expect(await left.ask(`${protocol} ${to} ${CLOSED} 500`)).toEqual({ result: code })
    })

    it.each([RIGHT, RIGHT6])('carries fragments to %s and back, and refuses those of others', async (to) => {
      expect(await left.ask(`udp ${to} ${OPEN} 6000`)).toEqual({ result: 'echo' })
      expect(await left.ask(`udp ${to} ${CLOSED} 6000`)).not.toEqual({ result: 'echo' })
    })

    it('lets in what answers the own side, and no ping of the other', async () => {
      for (const to of [LEFT, LEFT6]) {
        expect(await right.ask(`tcp ${to} ${CLOSED}`)).toEqual({ result: 'echo' })
        expect(await right.ask(`udp ${to} ${CLOSED} 6000`)).toEqual({ result: 'echo' })
        expect(pair.lab.run('right', ping(to))).toContain(' 0% packet loss')
      }
      for (const to of [RIGHT, RIGHT6]) expect(() => pair.lab.run('left', ping(to))).toThrow(': exit 1')
    })

    it('hears that nobody listens where it may ask', async () => {
      expect(await right.ask(`udp ${LEFT} 7003 20`)).toEqual({ result: 'ECONNREFUSED' })
      expect(await right.ask(`udp ${LEFT6} 7003 20`)).toEqual({ result: 'ECONNREFUSED' })
    })

    it('ends a connection that a change forbids within 2 s, and no other one', async () => {
      await rule(undefined)
      expect(await left.ask(`hold ${RIGHT} ${CLOSED}`)).toEqual({ result: 'echo' })
      expect(await right.ask(`hold ${LEFT} ${CLOSED}`)).toEqual({ result: 'echo' })
      await rule(leftMay('tcp', 'udp'))
      await eventually(async () => expect(await left.ask('say')).toEqual({ result: 'ECONNRESET' }), {
        withinMs: 2_000,
      })
      expect(await right.ask('say')).toEqual({ result: 'echo' })
      expect(await left.ask(`hold ${RIGHT6} ${OPEN}`)).toEqual({ result: 'echo' })
      await rule(leftMay('tcp'))
      expect(await left.ask('say')).toEqual({ result: 'echo' })
      expect(await left.ask(`udp ${RIGHT} ${OPEN} 20`)).toEqual({ result: 'EHOSTUNREACH' })
    })

    async function rule(rules: PacketRules | undefined): Promise<void> {
      expect(await pair.right.ask(`rules ${JSON.stringify(rules ?? 0)}`)).toHaveProperty('ms')
    }
  },
)

/** The left host may use one port of the right one, by these protocols. */
function leftMay(...protocols: readonly PacketMatch['protocol'][]): PacketRules {
  const ranges = [`${LEFT}/32`, `${LEFT6}/128`, `${RIGHT}/32`, `${RIGHT6}/128`]
  const on = protocols.map((protocol): PacketMatch => ({ protocol, firstPort: OPEN, lastPort: OPEN }))
  return {
    ranges: ranges.map((range, at) => ({ range: parseCidr(range), sets: [at >> 1] })),
    layers: [[{ from: 0, to: 1, on }]],
    silent: false,
  }
}

function ping(to: string): string[] {
  return ['ping', '-n', '-c', '2', '-i', '0.05', '-W', '1', '-s', '3000', '-M', 'dont', to]
}

function whyNot(): string | undefined {
  const support = engineSupport()
  return support.supported ? whyNoNamespaces(['ip', 'ping']) : support.message
}
