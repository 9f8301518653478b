import { parseCidr, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { expect, test } from 'vitest'
import { encodeGuestFile } from './guest-file.ts'
import { Guests } from './guests.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const GUEST = { name: 'phone', address: '10.1.0.9', publicKey: KEY, presharedKey: KEY, addedAt: 5 }

function guestsOf(text: string | undefined): Guests {
  const machine = { Hostname: 'edge', OS: 'linux', Arch: 'amd64', Version: '1' }
  const unused = () => {
    throw new Error('the engine is checked first')
  }
  return new Guests(
    {
      options: { wireguard: 'kernel', machine },
      ranges: [parseCidr('10.1.0.0/24')],
      derivedRange: parseCidr('fd00::/64'),
      own: { all: unused, pastOthers: unused },
      accepted: unused,
      udpPort: unused,
      candidates: unused,
      counters: unused,
      neighbours: unused,
      onChange: unused,
    },
    {
      announce: unused,
      ledger: {} as ConstructorParameters<typeof Guests>[1]['ledger'],
      store: { read: () => text, write: unused },
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
    },
  )
}

test("a node with the kernel's WireGuard takes no guests, and does not start with those that it has", async () => {
  const refusal = expect.objectContaining({ code: 'vpn.guests_need_engine' })
  await expect(guestsOf(undefined).add({ name: 'phone' }, AbortSignal.timeout(1_000))).rejects.toEqual(
    refusal,
  )
  expect(() => guestsOf(undefined).start()).not.toThrow()
  const file = encodeGuestFile({ privateKey: KEY, port: 4711, guests: [GUEST as never] })
  expect(() => guestsOf(file).start()).toThrow(refusal)
})
