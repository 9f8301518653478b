/** Who answers a question, from what the ledger holds. */
import { afterEach, describe, expect, test } from 'vitest'
import type { DnsInit } from '../src/dns.ts'
import type { ForwardServer } from '../src/forwarder/servers.ts'
import { createWorld, machine, OTHER, SELF, THIRD } from './names-world.ts'

let world = createWorld()
afterEach(async () => {
  await world.dns.stop()
  world = createWorld()
})
const types = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28 }

async function ask(name: string, type: keyof typeof types = 'A') {
  await world.clock.advance(1_000)
  const { rcode, records, source } = await world.dns.explain(name, types[type])
  return { rcode, source, values: records.map(({ text }) => text) }
}
const explain = (name: string, type: keyof typeof types = 'A') => world.dns.explain(name, types[type])

function restart(init: DnsInit) {
  world = createWorld(init)
  return world
}

describe('machines', () => {
  test('a machine is found by its host name and by its id, with all its addresses', async () => {
    world.ledger.put('machines', '10.1.0.5', machine('Laptop.example.com'))
    world.ledger.put('machines', 'fd00:1::5', machine('Laptop.example.com'))
    expect(await ask('laptop.mesh')).toEqual({ rcode: 0, source: 'machine', values: ['10.1.0.5'] })
    expect(await ask('LAPTOP.mesh', 'AAAA')).toMatchObject({ values: ['fd00:1::5'] })
    expect(await ask(`laptop-${SELF.slice(-8)}.mesh`)).toMatchObject({ values: ['10.1.0.5'] })
    expect(await ask('laptop.mesh', 'TXT')).toEqual({ rcode: 0, source: 'machine', values: [] })
  })

  test('a guest has a name of its own, and the machine that carries for it keeps its name and addresses', async () => {
    world.ledger.put('machines', '10.1.0.12', { ...machine('phone'), Guest: true })
    world.ledger.put('machines', '10.1.0.5', machine('edge'))
    world.ledger.put('machines', 'fd00:1::12', { ...machine('phone'), Guest: true })
    world.ledger.put('machines', '10.1.0.13', { ...machine('edge'), Guest: true })
    world.ledger.put('services', 'web', { PeerID: SELF, Name: 'web' })
    expect(await ask('edge.mesh')).toMatchObject({ values: ['10.1.0.5'] })
    expect(await ask(`edge-${SELF.slice(-8)}.mesh`)).toMatchObject({ values: ['10.1.0.5'] })
    expect(await ask('web.svc.mesh')).toMatchObject({ values: ['10.1.0.5'] })
    expect(await ask('phone.mesh')).toMatchObject({ values: ['10.1.0.12'] })
    expect(await ask('phone.mesh', 'AAAA')).toMatchObject({ values: ['fd00:1::12'] })
    expect(await ask('12.0.1.10.in-addr.arpa', 'PTR')).toMatchObject({ values: ['phone.mesh.'] })
    expect(await ask('5.0.1.10.in-addr.arpa', 'PTR')).toMatchObject({ values: ['edge.mesh.'] })
    // a name that somebody has himself is never a guest's
    world.ledger.put('machines', '10.1.0.20', machine('phone', OTHER), { version: 99n })
    expect(await ask('phone.mesh')).toMatchObject({ values: ['10.1.0.20'] })
    expect(await ask(`phone-${SELF.slice(-8)}.mesh`)).toMatchObject({ values: ['10.1.0.12'] })
  })

  test('of two with one name the first keeps it, whoever hears of them in which order', async () => {
    const first = () => world.ledger.put('machines', '10.1.0.9', machine('nas', OTHER), { version: 5n })
    const second = () => world.ledger.put('machines', '10.1.0.2', machine('nas', THIRD), { version: 9n })
    for (const order of [
      [first, second],
      [second, first],
    ]) {
      restart({})
      for (const put of order) put()
      expect(await ask('nas.mesh')).toMatchObject({ values: ['10.1.0.9'] })
      expect(await ask(`nas-${THIRD.slice(-8)}.mesh`)).toMatchObject({ values: ['10.1.0.2'] })
      const { losers } = await explain('nas.mesh')
      expect(losers).toEqual([
        { name: `nas-${THIRD.slice(-8).toLowerCase()}.mesh.`, owner: THIRD, reason: 'later_claim' },
      ])
    }
  })

  test('nobody takes the name with the id of another by calling itself so', async () => {
    world.ledger.put('machines', '10.1.0.66', machine(`nas-${OTHER.slice(-8)}`, THIRD), { version: 1n })
    world.ledger.put('machines', '10.1.0.9', machine('nas', OTHER), { version: 5n })
    expect(await ask(`nas-${OTHER.slice(-8)}.mesh`)).toMatchObject({ values: ['10.1.0.9'] })
  })

  test('an address outside the VPN, and a record of somebody else, count for nothing', async () => {
    world.ledger.put('machines', '192.168.1.1', machine('router'))
    world.ledger.put('machines', '127.0.0.1', machine('self'))
    world.ledger.put('machines', '10.1.0.7', machine('forged', OTHER), { owner: THIRD })
    for (const name of ['router', 'self', 'forged']) {
      expect(await ask(`${name}.mesh`)).toMatchObject({ rcode: 3 })
    }
  })

  test('who is gone has no name, and has it again when it is back', async () => {
    world.ledger.put('machines', '10.1.0.9', machine('nas', OTHER))
    expect(await ask('nas.mesh')).toMatchObject({ rcode: 0 })
    world.ledger.dead.add(OTHER)
    world.ledger.put('services', 'x', { PeerID: SELF, Name: 'x' })
    expect(await ask('nas.mesh')).toMatchObject({ rcode: 3 })
    world.ledger.dead.delete(OTHER)
    world.ledger.put('healthcheck', OTHER, 'now', { owner: OTHER })
    expect(await ask('nas.mesh')).toMatchObject({ rcode: 0 })
  })

  test.each(['svc', 'ns', '', '...', '💥'])(
    'a machine called %j is found by its id alone',
    async (hostname) => {
      world.ledger.put('machines', '10.1.0.9', machine(hostname, OTHER))
      expect(await ask('svc.mesh')).toMatchObject({ rcode: 0, values: [] })
      const label = hostname.match(/[a-z]+/)?.[0]
      const id = OTHER.slice(-8)
      expect(await ask(`${label === undefined ? id : `${label}-${id}`}.mesh`)).toMatchObject({
        values: ['10.1.0.9'],
      })
    },
  )

  test('with ownership off the record says whose a machine is', async () => {
    world = createWorld({}, 'off')
    world.ledger.put('machines', '10.1.0.9', machine('nas', OTHER), { owner: '' })
    expect(await ask('nas.mesh')).toMatchObject({ values: ['10.1.0.9'] })
  })
})

test('a service has the addresses of who provides it', async () => {
  world.ledger.put('machines', '10.1.0.9', machine('nas', OTHER))
  world.ledger.put('services', 'My Web', { PeerID: OTHER, Name: 'My Web' })
  world.ledger.put('services', 'lonely', { PeerID: THIRD, Name: 'lonely' })
  expect(await ask('my-web.svc.mesh')).toEqual({ rcode: 0, source: 'service', values: ['10.1.0.9'] })
  expect(await ask('lonely.svc.mesh')).toEqual({ rcode: 0, source: 'service', values: [] })
  expect(await ask('absent.svc.mesh')).toMatchObject({ rcode: 3 })
})

test('a service that several members offer has the addresses of all, its owner first', async () => {
  world.ledger.put('machines', '10.1.0.9', machine('nas', OTHER))
  world.ledger.put('machines', '10.1.0.3', machine('box', THIRD))
  world.ledger.put('services', 'my db', { PeerID: OTHER, Name: 'my db' })
  world.ledger.put('providers', `services my%20db ${THIRD}`, { PeerID: THIRD }, { owner: THIRD })
  world.ledger.put('providers', `routes my%20db ${SELF}`, { PeerID: SELF }, { owner: SELF })
  expect(await ask('my-db.svc.mesh')).toMatchObject({ values: ['10.1.0.9', '10.1.0.3'] })
  world.ledger.dead.add(THIRD)
  world.ledger.put('services', 'other', { PeerID: OTHER, Name: 'other' })
  expect(await ask('my-db.svc.mesh')).toMatchObject({ values: ['10.1.0.9'] })
})

test("addresses have names, and unknown ones of the VPN are nobody's", async () => {
  world.ledger.put('machines', '10.1.0.9', machine('nas', OTHER))
  world.ledger.put('machines', 'fd00:1::9', machine('nas', OTHER))
  expect(await ask('9.0.1.10.in-addr.arpa', 'PTR')).toEqual({
    rcode: 0,
    source: 'reverse',
    values: ['nas.mesh.'],
  })
  const digits = '9.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.d.f.ip6.arpa'
  expect(await ask(digits, 'PTR')).toMatchObject({ values: ['nas.mesh.'] })
  expect(await ask('10.0.1.10.in-addr.arpa', 'PTR')).toMatchObject({ rcode: 3 })
  expect(await ask(digits.replace('9.', ''), 'PTR')).toMatchObject({ rcode: 0, values: [] })
  expect(await ask('9.0.2.10.in-addr.arpa', 'PTR')).toMatchObject({ rcode: 5, source: 'nobody' })
})

test('the zone answers for itself', async () => {
  world.ledger.put('machines', '10.1.0.5', machine('laptop'))
  expect((await ask('mesh', 'SOA')).values[0]).toMatch(/^ns\.mesh\. hostmaster\.mesh\. \d+ /)
  expect(await ask('mesh', 'NS')).toMatchObject({ source: 'zone', values: ['ns.mesh.'] })
  expect(await ask('ns.mesh')).toMatchObject({ values: ['10.1.0.5'] })
  expect(await ask('0.1.10.in-addr.arpa', 'SOA')).toMatchObject({ source: 'zone' })
  expect(await ask('nobody.mesh')).toMatchObject({ rcode: 3, source: 'nobody' })
  expect(await ask('a.b.c.mesh')).toMatchObject({ rcode: 3 })
})

test('the zone may have another name', async () => {
  restart({ zone: 'home.arpa.' }).ledger.put('machines', '10.1.0.5', machine('laptop'))
  expect(await ask('laptop.home.arpa')).toMatchObject({ values: ['10.1.0.5'] })
  expect(await ask('laptop.mesh')).toMatchObject({ rcode: 5 })
})

describe('patterns', () => {
  test('match anywhere in the name, which ends with a dot, in any case', async () => {
    world.ledger.put('dns', 'foo.bar', { 1: '10.1.0.5' })
    world.ledger.put('dns', 'Upper\\.example\\.$', { 1: '10.1.0.6' })
    expect(await ask('x.fooxbar.org')).toEqual({ rcode: 0, source: 'pattern', values: ['10.1.0.5'] })
    expect(await ask('UPPER.example')).toMatchObject({ values: ['10.1.0.6'] })
    expect(await ask('upper.example')).toMatchObject({ values: ['10.1.0.6'] })
  })

  test('a whole name beats a longer pattern, which beats a shorter one', async () => {
    world.ledger.put('dns', '.*', { 1: '10.1.0.1' })
    world.ledger.put('dns', 'www\\.(example|sample)\\.(com|net|org)\\.', { 1: '10.1.0.2' })
    expect(await ask('www.example.org')).toMatchObject({ values: ['10.1.0.2'] })
    world.ledger.put('dns', '^www\\.example\\.org\\.$', { 1: '10.1.0.3' })
    expect(await ask('www.example.org')).toMatchObject({ values: ['10.1.0.3'] })
    const { winner, losers } = await explain('www.example.org')
    expect(winner?.name).toBe('^www\\.example\\.org\\.$')
    expect(losers.map(({ name, reason }) => [name, reason])).toEqual([
      ['www\\.(example|sample)\\.(com|net|org)\\.', 'weaker'],
      ['.*', 'weaker'],
    ])
  })

  test('the strongest that has the type answers; a name without it is no reason to ask elsewhere', async () => {
    world.ledger.put('dns', '^a\\.example\\.$', { 1: '10.1.0.5' })
    world.ledger.put('dns', 'a.example', { 16: '"hello"' })
    expect(await ask('a.example', 'TXT')).toMatchObject({ values: ['"hello"'] })
    expect(await ask('a.example', 'AAAA')).toEqual({ rcode: 0, source: 'pattern', values: [] })
  })

  test('a value that cannot be read is passed over and told', async () => {
    world.ledger.put('dns', '^a\\.example\\.$', { 1: 'not an address' })
    world.ledger.put('dns', 'a.example', { 1: '10.1.0.5', x: 'y', 99999999: 'z' })
    expect(await ask('a.example')).toMatchObject({ values: ['10.1.0.5'] })
    const { losers } = await explain('a.example')
    expect(losers).toEqual([{ name: '^a\\.example\\.$', owner: SELF, reason: 'bad_value' }])
  })

  test('do not take the name of a machine', async () => {
    world.ledger.put('machines', '10.1.0.5', machine('laptop'))
    world.ledger.put('dns', '^laptop\\.mesh\\.$', { 1: '10.1.0.66', 28: 'fd00:1::66' }, { owner: OTHER })
    expect(await ask('laptop.mesh')).toMatchObject({ values: ['10.1.0.5'] })
    expect(await ask('laptop.mesh', 'AAAA')).toMatchObject({ values: [] })
    const { losers } = await explain('laptop.mesh')
    expect(losers).toEqual([{ name: '^laptop\\.mesh\\.$', owner: OTHER, reason: 'automatic_name' }])
  })

  test('of somebody who is gone do not count, nor do deleted ones', async () => {
    world.ledger.put('dns', 'a.example', { 1: '10.1.0.5' }, { owner: OTHER })
    expect(await ask('a.example')).toMatchObject({ rcode: 0 })
    world.ledger.dead.add(OTHER)
    world.ledger.put('dns', 'other', { 1: '10.1.0.5' })
    expect(await ask('a.example')).toMatchObject({ rcode: 5 })
    world.ledger.remove('dns', 'other')
    expect(await ask('other')).toMatchObject({ rcode: 5 })
  })

  test('an alias is followed, and a circle of them is an error', async () => {
    world.ledger.put('machines', '10.1.0.5', machine('laptop'))
    world.ledger.put('dns', '^git\\.mesh\\.$', { 5: 'Laptop.mesh' })
    world.ledger.put('dns', '^one\\.mesh\\.$', { 5: 'two.mesh.' })
    world.ledger.put('dns', '^two\\.mesh\\.$', { 5: 'one.mesh.' })
    world.ledger.put('dns', '^broken\\.mesh\\.$', { 5: 'nobody.mesh.' })
    expect(await ask('git.mesh')).toMatchObject({ rcode: 0, values: ['Laptop.mesh', '10.1.0.5'] })
    expect(await ask('git.mesh', 'CNAME')).toMatchObject({ values: ['Laptop.mesh'] })
    expect(await ask('one.mesh')).toMatchObject({ rcode: 2, values: [] })
    expect(await ask('broken.mesh')).toMatchObject({ rcode: 3, values: ['nobody.mesh.'] })
  })
})

test('other names go to the servers of the longest domain, those of this network never', async () => {
  const server = (address: string, domain: string) => ({ address, port: 53, domain }) as ForwardServer
  const servers = [
    server('9.9.9.9', '.'),
    server('10.0.0.1', 'example.com.'),
    server('10.0.0.2', 'b.example.com.'),
  ]
  restart({ forward: { servers } })
  const serversFor = async (name: string) => (await explain(name)).servers
  expect(await serversFor('www.org')).toEqual(['9.9.9.9:53'])
  expect(await serversFor('a.example.com')).toEqual(['10.0.0.1:53'])
  expect(await serversFor('x.b.example.com')).toEqual(['10.0.0.2:53'])
  expect(await serversFor('notexample.com')).toEqual(['9.9.9.9:53'])
  for (const name of ['x.mesh', '77.0.1.10.in-addr.arpa']) expect(await serversFor(name)).toEqual([])
})

test('what is no name is refused', async () => {
  await expect(explain('a..b')).rejects.toMatchObject({ code: 'dns.bad_question' })
})
