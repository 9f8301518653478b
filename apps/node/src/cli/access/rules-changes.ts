/** Checks and signs a policy of access rules: `mesh rules check`, `mesh rules set`. */
import { resolve } from 'node:path'
import type { ApiClient } from '@mesh/api-client'
import type { RulesCheckView } from '@mesh/api-contract'
import { MeshError, printable, toError } from '@mesh/core'
import { EXIT } from '../../errors.ts'
import { readNamedFile } from '../../files/read-named-file.ts'
import { printableJson } from '../../words/printable.ts'
import type { Call, Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { formatTable } from '../format-table.ts'
import { wordsText } from './rules-reads.ts'

/** Bytes of the longest policy. */
export const MAX_POLICY_BYTES = 65_536
/** The names that one cell of a table shows; the others are counted. */
const SHOWN_NAMES = 4

export const runRulesCheck: Run = async (call) => {
  const text = await readPolicyFile(call)
  const check = await (await findNode(call)).checkRules({ body: { Text: text } })
  const { json, ids } = call.settings
  call.out(json ? printableJson(check, 2) : ids ? check.TextWithIds : formatCheck(check))
  return check.Tests.every(({ Passed }) => Passed) ? EXIT.ok.code : EXIT.failed.code
}

export const runRulesSet: Run = async (call) => {
  const text = await readPolicyFile(call)
  await signPolicy(call, await findNode(call), { text })
  return EXIT.ok.code
}

/** A policy to sign. */
interface PolicyToSign {
  readonly text: string
  /** The serial number of the policy that it was made from. */
  readonly serial?: number
}

/** Shows what changes, and signs. @throws ApiError `trust.*` */
export async function signPolicy(
  { settings, out }: Call,
  client: ApiClient,
  { text, serial }: PolicyToSign,
): Promise<void> {
  const check = await client.checkRules({ body: { Text: text } })
  if (!settings.json) out(formatCheck(check))
  const signed = await client.putRules({
    body: { Text: text, Force: settings.force, ...(serial !== undefined && { Serial: serial }) },
  })
  out(
    settings.json
      ? printableJson({ ...signed, Changes: check.Changes }, 2)
      : `Policy ${signed.Serial} is signed. Members apply it as they hear of it.\n`,
  )
}

/** @throws MeshError `node.unreadable` */
async function readPolicyFile({ positionals, base, readInput }: Call): Promise<string> {
  const [file = ''] = positionals
  if (file === '-') return await readInput(MAX_POLICY_BYTES)
  try {
    return readNamedFile(resolve(base, file), MAX_POLICY_BYTES).text
  } catch (error) {
    throw new MeshError('node.unreadable', `${file} cannot be read: ${toError(error).message}`, {
      cause: error,
    })
  }
}

/** The tests, and the pairs that gain or lose. */
function formatCheck({ Tests, Changes, More, CutsOff }: RulesCheckView): string {
  const failed = Tests.filter(({ Passed }) => !Passed)
  const tests = [
    ...failed.map(({ Sentence, Expect }) => `failed: ${Sentence}; the test expects ${Expect}`),
    ...(Tests.length === 0
      ? ['The policy has no tests.']
      : [`${Tests.length - failed.length} of ${Tests.length} tests pass.`]),
    ...(CutsOff ? ['By this policy this node may begin nothing any more.'] : []),
  ]
  const changes =
    Changes.length === 0
      ? 'It changes nothing for the members, guests and routes that are known.\n'
      : formatTable(
          ['FROM', 'TO', 'NOW', 'THEN'],
          Changes.map(({ From, To, Before, After }) => [
            namesText(From),
            namesText(To),
            wordsText(Before),
            wordsText(After),
          ]),
        )
  const more = More ? 'There are more changes.\n' : ''
  return `${tests.map((line) => `${printable(line)}\n`).join('')}${changes}${more}`
}

function namesText(ends: readonly { readonly Name: string }[]): string {
  const shown = ends.slice(0, SHOWN_NAMES).map(({ Name }) => Name)
  const more = ends.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}
