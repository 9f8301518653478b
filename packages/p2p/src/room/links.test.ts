import { expect, test } from 'vitest'
import { createLinks } from './links.ts'

test('a link that only this end wanted goes when it wants it no more', () => {
  const links = createLinks('b')
  expect([links.want('a'), links.want('a')]).toEqual([true, false])
  expect(links.giveUp('a')).toBe(true)
})

test('a link that both ends wanted is given up by the smaller one, on trial', () => {
  const smaller = createLinks('a')
  smaller.want('b')
  smaller.wantedBy('b')
  expect(smaller.giveUp('b')).toBe(true)
  // it still wants the link: not tried again
  smaller.wantedBy('b')
  expect(smaller.giveUp('b')).toBe(false)

  const greater = createLinks('b')
  greater.wantedBy('a')
  expect(greater.giveUp('a')).toBe(false)
})

test('a link that proved useful stays', () => {
  const links = createLinks('a')
  links.keep('b')
  expect(links.giveUp('b')).toBe(false)
})

test('a link that is gone is told anew', () => {
  const links = createLinks('a')
  links.want('b')
  links.gone('b')
  expect(links.want('b')).toBe(true)
})
