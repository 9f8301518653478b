/** Reading what `ip rule show` and `ip route show` print. */
import { isIP } from 'node:net'
import { FIRST_PREFERENCE } from '../limits.ts'

/** A rule by which packets from one address go their own way: answers to those who connect to it. */
const FROM_ONE = /^\d+: from (?!all )(\S+) lookup main$/

/** How many preferences there are, used or not. */
const PREFERENCES = 9

/** The preferences of this node's rules among those that `ip rule show` printed. */
export function ownPreferences(shown: string): readonly number[] {
  return preferencesOf(shown).filter(isOwn)
}

/** The addresses whose answers go back the way that they came, by rules before this node's. */
export function answeredPast(shown: string): readonly string[] {
  return linesOf(shown).flatMap((line) => {
    const [, address] = FROM_ONE.exec(line) ?? []
    return address === undefined || Number.parseInt(line, 10) >= FIRST_PREFERENCE ? [] : [address]
  })
}

/** The lines of `ip rule show` that other programs wrote: neither the kernel's three nor ours. */
export function foreignRules(shown: string): readonly string[] {
  return linesOf(shown).filter((line) => {
    const preference = Number.parseInt(line, 10)
    if (Number.isNaN(preference) || isOwn(preference)) return false
    return ![0, 32_766, 32_767].includes(preference) && !/l3mdev/.test(line) && !FROM_ONE.test(line)
  })
}

/** The networks of the routes that `ip route show` printed, but for default routes and those into the interface. */
export function readRoutes(shown: string, interfaceName: string): readonly string[] {
  return linesOf(shown).flatMap((line) => {
    const [first = '', ...words] = line.split(' ')
    const [address = '', bits] = first.split('/')
    const family = isIP(address)
    if (family === 0 || words[words.indexOf('dev') + 1] === interfaceName) return []
    return [bits === undefined ? `${address}/${family === 4 ? 32 : 128}` : first]
  })
}

function linesOf(shown: string): readonly string[] {
  return shown.split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '))
}

function preferencesOf(shown: string): readonly number[] {
  return shown.split('\n').flatMap((line) => {
    const preference = Number.parseInt(line, 10)
    return Number.isNaN(preference) ? [] : [preference]
  })
}

function isOwn(preference: number): boolean {
  return preference >= FIRST_PREFERENCE && preference < FIRST_PREFERENCE + PREFERENCES
}
