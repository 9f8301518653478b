import { shortPeerId } from '@mesh/core'
import { useState } from 'react'
import { useCancelInvite, useSetMember } from '../../data/changes.ts'
import { type Invite, inviteState, type Member, memberState } from '../../model/access-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { exactTime, spanInWords } from '../../model/time-words.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import { Rows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Cell, type Column } from '../../parts/table.tsx'
import { useNow } from '../../parts/time.tsx'
import css from './access.module.css'

interface AccessRowsProps<Row> {
  readonly rows: readonly Row[]
  /** Gives the name of a peer, or its short id. */
  readonly name: (id: string) => string
  readonly canChange: boolean
}

const MEMBER_COLUMNS: readonly Column[] = [
  { title: 'Name' },
  { title: 'State' },
  { title: 'Id' },
  { title: '', align: 'end' },
]

export function MemberRows({ rows, name, canChange }: AccessRowsProps<Member>) {
  const [revoking, setRevoking] = useState<string>()
  const set = useSetMember()
  const now = useNow()
  return (
    <>
      <WriteErrorNote error={set.error} />
      <Rows
        label="Members"
        columns={MEMBER_COLUMNS}
        rowClass={css.memberRow}
        rows={rows}
        rowKey={({ PeerID }) => PeerID}
        renderCells={(member) => {
          const { PeerID: peer, State } = member
          const { tone, word, detail } = memberState(member, now)
          return (
            <>
              <Cell className={css.name} title={name(peer)}>
                <Glyph id={peer} />
                <span>{name(peer)}</span>
              </Cell>
              <Cell {...(member.EndsAt !== null && { title: exactTime(Date.parse(member.EndsAt)) })}>
                <StateMark tone={tone} word={word}>
                  {detail}
                </StateMark>
              </Cell>
              <Cell className={css.id}>
                <Copy text={peer} what={`id of ${name(peer)}`} mono>
                  {shortPeerId(peer)}
                </Copy>
              </Cell>
              <Cell align="end" className={css.action}>
                {canChange &&
                  actionsOn(State).map((action, at) => (
                    // one button goes on as the next one when the state changes, and keeps the focus
                    <Button
                      key={at}
                      tone={action === SHUT_OUT ? 'quiet' : 'plain'}
                      busy={set.isPending}
                      aria-label={`${action} ${name(peer)}`}
                      onClick={() => {
                        if (set.isPending) return
                        if (action === SHUT_OUT) setRevoking(peer)
                        else set.mutate({ peer, state: 'admitted' })
                      }}
                    >
                      {action}
                    </Button>
                  ))}
              </Cell>
            </>
          )
        }}
      />
      {revoking !== undefined && (
        <Confirm
          title={`Shut ${name(revoking)} out?`}
          action="Shut out"
          commands={[`mesh admin revoke ${revoking}`]}
          onClose={() => setRevoking(undefined)}
          onConfirm={() => set.mutate({ peer: revoking, state: 'revoked' })}
        >
          <p>
            Within seconds all members end what is open with it: packets, services, files, relays and names.
            Its entries in the ledger end too. Keys that everybody may write, such as notes, stay if this node
            holds them now.
          </p>
          <p className={css.hint}>
            It keeps the token and what it has heard until now. Only this administrator can let it in again.
          </p>
        </Confirm>
      )}
    </>
  )
}

const SHUT_OUT = 'Shut out'

/** Gives the words for what an administrator may do with a member in this state. */
function actionsOn(state: Member['State']): readonly string[] {
  if (state === 'admitted') return [SHUT_OUT]
  if (state === 'provisional') return ['Confirm', SHUT_OUT]
  return [state === 'waiting' ? 'Let in' : 'Let in again']
}

const INVITE_COLUMNS: readonly Column[] = [
  { title: 'For' },
  { title: 'State' },
  { title: 'Used by' },
  { title: '', align: 'end' },
]

export function InviteRows({ rows, name, canChange }: AccessRowsProps<Invite>) {
  const [cancelling, setCancelling] = useState<Invite>()
  const cancel = useCancelInvite()
  const now = useNow()
  return (
    <>
      <WriteErrorNote error={cancel.error} />
      <Rows
        label="Invites"
        columns={INVITE_COLUMNS}
        rowClass={css.memberRow}
        rows={rows}
        rowKey={({ Invite }) => Invite}
        renderCells={(invite) => {
          const { Label, Invite: id, State, Claims, ExpiresAt } = invite
          const { tone, word, detail } = inviteState(invite)
          const endsAt = Date.parse(ExpiresAt)
          const left = State === 'open' && endsAt > now ? `for ${spanInWords(endsAt - now)}` : undefined
          return (
            <>
              <Cell className={css.name}>
                {Label === '' ? (
                  <Copy text={id} what="id of the invite" mono>
                    {shortPeerId(id)}
                  </Copy>
                ) : (
                  <span title={id}>{shownName(Label)}</span>
                )}
              </Cell>
              <Cell title={`until ${exactTime(endsAt)}`}>
                <StateMark tone={tone} word={word}>
                  {detail ?? left}
                </StateMark>
              </Cell>
              <Cell className={css.id}>{Claims.map((peer) => name(peer)).join(', ')}</Cell>
              <Cell align="end" className={css.action}>
                {canChange && (State === 'open' || State === 'disputed') && (
                  <Button tone="quiet" onClick={() => setCancelling(invite)}>
                    Cancel
                  </Button>
                )}
              </Cell>
            </>
          )
        }}
      />
      {cancelling !== undefined && (
        <Confirm
          title={`Cancel the invite${cancelling.Label === '' ? '' : ` for ${cancelling.Label}`}?`}
          action="Cancel the invite"
          commands={[`mesh admin cancel ${cancelling.Invite}`]}
          onClose={() => setCancelling(undefined)}
          onConfirm={() => cancel.mutate(cancelling.Invite)}
        >
          <p>Nobody can use its code any more. Who used it and was confirmed stays in.</p>
        </Confirm>
      )}
    </>
  )
}
