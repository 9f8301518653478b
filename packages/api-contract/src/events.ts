/** The events that `/api/events` sends: a type, an id to come back with, and JSON. */
import * as z from 'zod'
import { later } from './later.ts'
import { EVENT_HISTORY_SIZE } from './limits.ts'
import { ruleEndpoint } from './views/rules.ts'
import { udpView } from './views/vpn.ts'
import { uint64 } from './views/fields.ts'

const peer = later(() => z.object({ PeerID: z.string() }))
const offered = later(() => z.object({ Name: z.string(), State: z.string().nullable() }))
const machine = later(() => z.object({ PeerID: z.string(), Hostname: z.string(), Address: z.string() }))

/** When it happened (RFC 3339 UTC), in events that `?last=` replays; absent in others. */
const happenedAt = later(() => z.string().optional())

/** The data of each type, made when first asked for. */
export const eventSchemas = {
  'ledger.changed': later(() =>
    z.object({
      Block: z.number().int(),
      Changes: z.array(
        z.object({
          Bucket: z.string(),
          Key: z.string(),
          Owner: z.string(),
          Version: uint64(),
          Deleted: z.boolean(),
          Origin: z.enum(['local', 'remote']),
        }),
      ),
      /** Changes of the block that are not listed; refetch when it is not zero. */
      More: z.number().int(),
      At: happenedAt(),
    }),
  ),
  'ledger.rejected': later(() =>
    z.object({
      Bucket: z.string(),
      Key: z.string(),
      Owner: z.string(),
      Version: uint64(),
      /** The code of the refusal: `NOT_OWNER`, `BAD_SIG`, ... */
      Code: z.string(),
      /** The member that sent it, when known. */
      Author: z.string().nullable(),
      /** Rejections before this one that were only counted, because they came too fast. */
      Suppressed: z.number().int(),
      At: happenedAt(),
    }),
  ),
  'ledger.conflict': later(() =>
    z.object({
      Bucket: z.string(),
      Key: z.string(),
      Owners: z.array(z.string()),
      Resolved: z.boolean(),
      /** When this node gave the key up: who holds it now. */
      YieldedTo: z.string().nullable(),
      At: happenedAt(),
    }),
  ),
  /** A peer is connected, or reached another way than before. */
  'peer.connected': later(() => peer().extend({ Path: z.enum(['direct', 'relayed']) })),
  /** A peer's last connection ended, or all that it has stay silent; it may be back within a second, by another one. */
  'peer.disconnected': peer,
  /** A peer was refused: it is no member, or sent what no member may. Ten a second of each code are told. */
  'peer.refused': later(() =>
    z.object({
      PeerID: z.string().nullable(),
      /** `member.bad_proof`, `channel.not_member`, `topic.bad_seal`, ... */
      Code: z.string(),
      Protocol: z.string().nullable(),
    }),
  ),
  'machine.online': machine,
  'machine.offline': machine,
  /** Packets of the VPN go another way to a machine, or there is another reason why not over UDP. */
  'machine.path': later(() => peer().extend(udpView().shape)),
  /** A service, connection or file of this node is in another state; a `State` of null says that it was removed. */
  'service.changed': offered,
  'connection.changed': offered,
  'file.changed': offered,
  /** Who may use the network has changed, or the peer gate was switched; `Gate` is null where there is none. */
  'access.changed': later(() => z.object({ Gate: z.boolean().nullable(), Revoked: z.boolean() })),
  /** Access rules refused something on this node. A few a second are told; `Count` has those of the pair since the start. */
  'rules.refused': later(() =>
    z.object({ From: ruleEndpoint(), To: ruleEndpoint(), On: z.string(), Count: z.number().int() }),
  ),
  'block.committed': later(() =>
    z.object({
      Index: z.number().int(),
      Hash: z.string(),
      Timestamp: z.string(),
      Changes: z.number().int(),
    }),
  ),
  /**
   * Events are missing: what happened since the id that the reader came back with is not known any more. Its
   * reader fetches all anew.
   */
  gap: later(() => z.object({})),
} as const

export type EventType = keyof typeof eventSchemas

/** All types, `gap` included (which comes whatever `?types=` says). */
export const eventTypes = Object.keys(eventSchemas) as readonly EventType[]

export type EventData<Type extends EventType> = z.output<ReturnType<(typeof eventSchemas)[Type]>>

/** One event as a reader gets it. */
export type ApiEvent = {
  [Type in EventType]: { readonly id: string; readonly type: Type; readonly data: EventData<Type> }
}[EventType]

/** Parses a list of types such as `ledger.changed,peer.connected`. */
export const eventTypeList = z
  .string()
  .transform((text, context) => {
    const types = text.split(',').filter((type) => type !== '')
    const unknown = types.find((type) => !(eventTypes as readonly string[]).includes(type))
    if (unknown === undefined) return types as readonly EventType[]
    context.addIssue({ code: 'custom', message: `a list of ${eventTypes.join(', ')}` })
    return z.NEVER
  })
  .meta({ type: 'string', example: 'ledger.changed,peer.connected' })

/** Parses `200`: how many changes and refusals of the past come first. */
export const historyCount = z
  .string()
  .transform((text, context) => {
    const count = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
    if (count <= EVENT_HISTORY_SIZE) return count
    context.addIssue({ code: 'custom', message: `a whole number from 0 to ${EVENT_HISTORY_SIZE}` })
    return z.NEVER
  })
  .meta({
    type: 'integer',
    minimum: 0,
    maximum: EVENT_HISTORY_SIZE,
    description:
      'First the last changes and refusals (without heartbeats), with `At`; not with Last-Event-ID, which continues.',
    example: 200,
  })
