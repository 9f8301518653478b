import { describe, expect, it } from 'vitest'
import { LEAST_STAY_MS } from './limits.ts'
import { chooseSurplus, type OpenConnection } from './eviction.ts'

const bounds = { maxConnections: 12, maxUnproven: 6 }
let made = 0

function open(init: Partial<OpenConnection>): OpenConnection {
  const id = `c${made++}`
  return {
    id,
    peer: id,
    address: '192.0.2.1',
    isOurs: false,
    isMember: false,
    openedAt: made,
    knownSince: 0,
    ...init,
  }
}

const many = (count: number, init: Partial<OpenConnection> = {}) =>
  Array.from({ length: count }, () => open(init))

describe('connections that nobody has proven', () => {
  it('have a share of their own, in which the newest stays', () => {
    const members = many(12, { isMember: true })
    const strangers = many(40)
    const surplus = chooseSurplus([...members, ...strangers], bounds, 1e6)
    expect(surplus.every(({ isMember }) => !isMember)).toBe(true)
    // two thirds of the share are for one address
    expect(surplus).toEqual(strangers.slice(0, 36))
  })

  it('of one address leave those of others alone', () => {
    const newcomer = open({ address: '198.51.100.7', openedAt: -1 })
    const surplus = chooseSurplus([newcomer, ...many(40)], bounds, 1e6)
    expect(surplus).not.toContain(newcomer)
  })

  it('are not counted where this node dialled', () => {
    expect(chooseSurplus(many(20, { isOurs: true }), { ...bounds, maxConnections: 20 }, 1e6)).toEqual([])
  })
})

describe('connections of members', () => {
  const sybils = () => many(12, { isMember: true, address: '203.0.113.9', knownSince: 500, openedAt: 500 })

  it('go by address first: anyone who has many keys behind one makes way for others', () => {
    const honest = open({ isMember: true, address: '198.51.100.7', knownSince: 900, openedAt: 900 })
    const [gone, ...others] = chooseSurplus([...sybils(), honest], bounds, 1000)
    expect([gone?.address, others]).toEqual(['203.0.113.9', []])
  })

  it('stay where their peer is known long, behind the same address too', () => {
    const known = open({ isMember: true, address: '203.0.113.9', knownSince: 1, openedAt: 999 })
    expect(chooseSurplus([...sybils(), known], bounds, 1000)).not.toContain(known)
  })

  it('have their turn behind one address: who was there long enough makes way for a newcomer', () => {
    const now = 500 + LEAST_STAY_MS
    const newcomer = open({ isMember: true, address: '203.0.113.9', knownSince: now, openedAt: now })
    const surplus = chooseSurplus([...sybils(), newcomer], bounds, now)
    expect(surplus).toHaveLength(1)
    expect(surplus).not.toContain(newcomer)
  })

  it('that this node dialled always have a place', () => {
    const own = many(5, { isMember: true, isOurs: true, address: '203.0.113.9', openedAt: 2000 })
    const surplus = chooseSurplus([...sybils(), ...own], bounds, 3000)
    expect(surplus).toHaveLength(5)
    expect(surplus.some(({ isOurs }) => isOurs)).toBe(false)
  })
})
