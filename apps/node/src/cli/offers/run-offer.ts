/** Commands that offer or connect things by name: the node that runs here does it, or one of its own. */
import { EXIT } from '../../errors.ts'
import type { Parsed } from '../../settings/option.ts'
import type { Call } from '../command.ts'
import { type Role, runNode } from '../run/run-node.ts'
import { type Asked, askCommonNode } from './common-node.ts'
import { instanceOf } from './named-address.ts'
import { readPairs } from './read-pairs.ts'

interface Offer {
  readonly setting: 'serviceAdd' | 'serviceConnect' | 'fileSend'
  /** The word for what follows a name. */
  readonly second: string
  readonly parse: (text: string) => Parsed<unknown>
  /** Says what to ask the node that runs here for each `NAME=PLACE`. */
  readonly askFor: (text: string) => Asked
}

/** @param work what a node of its own is for, where it ends by itself */
export async function runOffer(
  call: Call,
  { setting, second, parse, askFor }: Offer,
  work?: Role['work'],
): Promise<number> {
  const given = call.settings[setting]
  const all = [...readPairs(call, { second, parse, isOptional: given.length > 0 }), ...given]
  // a node that others need does not end after one transfer
  if (work === undefined && (await askCommonNode(call, all.map(askFor)))) return EXIT.ok.code
  const [first = ''] = all
  return runNode(call, {
    listen: undefined,
    hasVpn: false,
    settings: { [setting]: all },
    instance: instanceOf(call.command.name, first.slice(0, first.indexOf('='))),
    ...(work !== undefined && { work }),
  })
}
