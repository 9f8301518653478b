/** The exit node of this machine, in words for people. */
import type { VpnView } from '@mesh/api-contract'
import { countInWords } from './rate-words.ts'
import type { StateInWords } from './state-tone.ts'

export type Exit = NonNullable<VpnView['ExitNode']>
export type ExitFamilies = Exit['Families']

export function exitState({ State }: Pick<Exit, 'State'>): Pick<StateInWords, 'tone' | 'word'> {
  switch (State) {
    case 'up':
      return { tone: 'direct', word: 'in use' }
    case 'searching':
      return { tone: 'warning', word: 'looked for' }
    case 'gone':
      return { tone: 'refused', word: 'gone' }
  }
}

/** Says what becomes of packets for the Internet now. */
export function exitInWords({
  State,
  Families,
  Standby,
}: Pick<Exit, 'State' | 'Families' | 'Standby'>): string {
  switch (State) {
    case 'up': {
      const missing = FAMILIES.filter(([family]) => !Families.includes(family)).map(([, name]) => name)
      const none =
        missing.length === 0
          ? ''
          : ` It forwards no ${missing.join(' and no ')}: this machine drops such packets.`
      const others =
        Standby.length === 0
          ? ''
          : ` ${countInWords(Standby.length)} ${Standby.length === 1 ? 'other takes' : 'others can take'} over when it fails.`
      return `all Internet traffic goes through it.${none}${others}`
    }
    case 'searching':
      return 'the node looks for it. Until then this machine drops its Internet traffic.'
    case 'gone':
      return 'it cannot be reached. This machine drops its Internet traffic; no packet bypasses the exit node.'
  }
}

/** `IPv4 and IPv6`; what an exit without any family forwards is nothing. */
export function familiesInWords(families: ExitFamilies): string {
  const names = FAMILIES.filter(([family]) => families.includes(family)).map(([, name]) => name)
  return names.length === 0 ? 'nothing' : names.join(' and ')
}

const FAMILIES: readonly (readonly [ExitFamilies[number], string])[] = [
  ['ipv4', 'IPv4'],
  ['ipv6', 'IPv6'],
]
