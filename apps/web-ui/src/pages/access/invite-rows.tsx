import { useState } from 'react'
import { useCancelInvite } from '../../data/access.ts'
import { type Invite, inviteState } from '../../model/access-words.ts'
import { exactTime, spanInWords } from '../../model/time-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy } from '../../parts/copy.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import { Rows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { useNow } from '../../parts/time.tsx'
import { Cell, type Column } from '../../parts/virtual-rows.tsx'
import { shortPeerId } from '@mesh/core'
import css from './access.module.css'

interface InviteRowsProps {
  readonly invites: readonly Invite[]
  readonly name: (id: string) => string
  readonly canChange: boolean
}

const COLUMNS: readonly Column[] = [
  { title: 'For' },
  { title: 'State' },
  { title: 'Used by' },
  { title: '', align: 'end' },
]

export function InviteRows({ invites, name, canChange }: InviteRowsProps) {
  const [cancelling, setCancelling] = useState<Invite>()
  const cancel = useCancelInvite()
  return (
    <>
      {cancel.error !== null && <WriteErrorNote error={cancel.error} />}
      <Rows
        label="Invites"
        columns={COLUMNS}
        rowClass={css.memberRow}
        rows={invites}
        rowKey={({ Invite }) => Invite}
        isSelected={() => false}
        renderCells={(invite) => <InviteCells {...{ invite, name, canChange, setCancelling }} />}
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

interface InviteCellsProps {
  readonly invite: Invite
  readonly name: (id: string) => string
  readonly canChange: boolean
  readonly setCancelling: (invite: Invite) => void
}

function InviteCells({ invite, name, canChange, setCancelling }: InviteCellsProps) {
  const { Label, Invite: id, State, Claims, ExpiresAt } = invite
  const { tone, word, detail } = inviteState(invite)
  const endsAt = Date.parse(ExpiresAt)
  const leftMs = endsAt - useNow()
  const left = State === 'open' && leftMs > 0 ? `for ${spanInWords(leftMs)}` : undefined
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
}
