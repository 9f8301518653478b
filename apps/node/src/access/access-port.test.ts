import { BUCKETS, silentLogger, systemRandom } from '@mesh/core'
import { createLedger, createSigner, defaultPolicies } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { createTrust } from '@mesh/trust'
import { checkPolicy } from '@mesh/trust/rules'
import { afterEach, expect, test } from 'vitest'
import { createAccessPort } from './access-port.ts'

const clock = createManualClock()
const seeds = [systemRandom.bytes(32), systemRandom.bytes(32)]
const [first, second] = seeds.map((seed) => createSigner(seed)) as [
  ReturnType<typeof createSigner>,
  ReturnType<typeof createSigner>,
]
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

function open(seed: Uint8Array | undefined, init: { readonly invite?: string } = {}) {
  const signer = createSigner(systemRandom.bytes(32))
  const trust = createTrust(
    {
      self: signer.peerId,
      network: 'a3aef9821d7c70a7dfd6',
      administrators: [first.peerId, second.peerId],
      ...init,
    },
    { signer, readAdminSeed: () => seed, checkPolicy, clock, random: systemRandom, log: silentLogger },
  )
  const ledger = createLedger(
    { policies: { ...defaultPolicies, ...trust.policies } },
    { signer, clock, admits: (...asked) => trust.admits(...asked) },
  )
  trust.attachLedger(ledger)
  ends.push(
    () => trust.stop(),
    () => ledger.stop(),
  )
  const toldNames = new Map<string, string>()
  const port = createAccessPort({ trust, ledger, toldNames: () => toldNames, now: () => clock.now() })
  return { id: signer.peerId, trust, ledger, port, toldNames }
}

type Opened = ReturnType<typeof open>
const tell = (from: Opened, to: Opened) =>
  to.ledger.merge([...from.ledger.snapshot().entries(BUCKETS.admission)], undefined)
const memberOf = ({ port }: Opened, peer: string) =>
  port.admission()?.Members.find(({ PeerID }) => PeerID === peer)

test('a member without an interface is called what it says, else what its invite was made for', async () => {
  const home = open(seeds[0])
  const { code } = home.port.invite({ label: 'laptop' })
  const guest = open(undefined, { invite: code })
  tell(home, guest)
  await clock.advance(1)
  tell(guest, home)
  await clock.advance(1)
  expect(memberOf(home, guest.id)).toMatchObject({ Name: 'laptop', State: 'admitted' })
  home.toldNames.set(guest.id, 'desk')
  expect(memberOf(home, guest.id)?.Name).toBe('desk')
})

test('of two administrators the one is named who shut a member out', async () => {
  const [home, other] = [open(seeds[0]), open(seeds[1])]
  const peer = createSigner(systemRandom.bytes(32)).peerId
  other.port.setMember(peer, 'revoked', {})
  home.port.setMember(peer, 'admitted', {})
  tell(other, home)
  tell(home, other)
  for (const each of [home, other]) {
    expect(memberOf(each, peer)).toMatchObject({ State: 'revoked', Administrator: second.peerId })
  }
})
