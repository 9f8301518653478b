/** `tools/attack/ATTACKS.md`: every attack, who can make it, and what bounds it. */
import { DATAGRAM_ATTACKS } from './datagrams.ts'
import { SCENARIOS } from './scenarios.ts'

/** The path of the list, from the root of the repository. */
export const ATTACK_LIST = 'tools/attack/ATTACKS.md'

export function buildAttackList(): string {
  const rows = [...SCENARIOS, ...DATAGRAM_ATTACKS].map(({ name, who, does, boundedBy }) =>
    [`\`${name}\``, who, does, boundedBy].map((cell) => cell.replaceAll('|', '\\|')).join(' | '),
  )
  return [
    '# Attacks',
    '<!-- Made by `npm run attack -- --write-list` from the scenarios; do not edit. -->',
    '[docs/SECURITY.md](../../docs/SECURITY.md) has the actors, the rules and the bounds. [README.md](README.md) says how to make an attack.',
    ['| Attack | Who | What it does | What bounds it |', '| --- | --- | --- | --- |']
      .concat(rows.map((row) => `| ${row} |`))
      .join('\n'),
  ]
    .join('\n\n')
    .concat('\n')
}
