/** `mesh ledger watch`: what changes, is refused or contested, as it happens. */
import type { ApiClient } from '@mesh/api-client'
import type { ApiEvent } from '@mesh/api-contract'
import { printable, shortPeerId, stringifyExactJson } from '@mesh/core'
import { printableJson } from '../../words/printable.ts'
import type { Call, Run } from '../command.ts'
import { findNode } from '../find-node.ts'

export const runWatch: Run = async (call) => {
  const client = await findNode(call)
  const [bucket] = call.positionals
  const events = client.events({
    types: ['ledger.changed', 'ledger.rejected', 'ledger.conflict'],
    onState: (state) => {
      if (state.state === 'waiting') call.note('the node does not answer; trying again')
    },
  })
  for await (const event of events) {
    for (const line of await linesOf(event, client)) {
      if (bucket === undefined || line.bucket === undefined || line.bucket === bucket) print(line, call)
    }
  }
  return 0
}

interface WatchLine {
  readonly bucket: string | undefined
  readonly human: string
  readonly json: unknown
}

async function linesOf(event: ApiEvent, client: ApiClient): Promise<readonly WatchLine[]> {
  switch (event.type) {
    case 'ledger.changed':
      return changeLines(event.data, client)
    case 'ledger.rejected': {
      const { Bucket, Key, Owner, Code } = event.data
      const human = `! ${Bucket}/${Key} refused: ${Code} (owner ${shortPeerId(Owner)})`
      return [{ bucket: Bucket, human, json: { Type: event.type, ...event.data } }]
    }
    case 'ledger.conflict': {
      const { Bucket, Key, Owners, Resolved } = event.data
      const who = Owners.map(shortPeerId).join(' and ')
      const human = `! ${Bucket}/${Key} ${Resolved ? 'no longer' : 'is'} contested by ${who}`
      return [{ bucket: Bucket, human, json: { Type: event.type, ...event.data } }]
    }
    case 'gap':
      return [{ bucket: undefined, human: '! some changes were missed', json: { Type: event.type } }]
    case 'access.changed':
    case 'rules.refused':
    case 'block.committed':
    case 'service.changed':
    case 'connection.changed':
    case 'file.changed':
    case 'machine.offline':
    case 'machine.online':
    case 'machine.path':
    case 'peer.connected':
    case 'peer.disconnected':
    case 'peer.refused':
      return []
  }
}

async function changeLines(
  { Block, Changes, More }: Extract<ApiEvent, { type: 'ledger.changed' }>['data'],
  client: ApiClient,
): Promise<readonly WatchLine[]> {
  const lines: WatchLine[] = []
  for (const change of Changes) {
    const { Bucket: bucket, Key: key, Owner, Deleted } = change
    // a newer write may have removed it by now; then there is no value to show
    const value = Deleted ? undefined : await client.getEntry({ bucket, key }).catch(() => undefined)
    const by = Owner === '' ? '' : `  by ${shortPeerId(Owner)}`
    const human = Deleted
      ? `- ${bucket}/${key}${by}`
      : `+ ${bucket}/${key} = ${value === undefined ? '(gone again)' : stringifyExactJson(value)}${by}`
    lines.push({ bucket, human, json: { Type: 'ledger.changed', Block, ...change, Value: value } })
  }
  if (More > 0) {
    lines.push({
      bucket: undefined,
      human: `  and ${More} more in block ${Block}`,
      json: { Type: 'more', Block, More },
    })
  }
  return lines
}

function print({ human, json }: WatchLine, { settings, out }: Call): void {
  out(settings.json ? printableJson(json) : `${printable(human)}\n`)
}
