import { shortPeerId } from '@mesh/core'
import { useState } from 'react'
import { useSetMember } from '../../data/access.ts'
import { type Member, memberState } from '../../model/access-words.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import { Rows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Cell, type Column } from '../../parts/virtual-rows.tsx'
import css from './access.module.css'

interface MemberRowsProps {
  readonly members: readonly Member[]
  /** Gives the name of a peer, or its short id. */
  readonly name: (id: string) => string
  readonly canChange: boolean
}

const COLUMNS: readonly Column[] = [
  { title: 'Name' },
  { title: 'State' },
  { title: 'Id' },
  { title: '', align: 'end' },
]

export function MemberRows({ members, name, canChange }: MemberRowsProps) {
  const [revoking, setRevoking] = useState<Member>()
  const set = useSetMember()
  return (
    <>
      {set.error !== null && <WriteErrorNote error={set.error} />}
      <Rows
        label="Members"
        columns={COLUMNS}
        rowClass={css.memberRow}
        rows={members}
        rowKey={({ PeerID }) => PeerID}
        isSelected={() => false}
        renderCells={(member) => {
          const { PeerID, State } = member
          const { tone, word, detail } = memberState(member)
          return (
            <>
              <Cell className={css.name} title={name(PeerID)}>
                <Glyph id={PeerID} />
                <span>{name(PeerID)}</span>
              </Cell>
              <Cell>
                <StateMark tone={tone} word={word}>
                  {detail}
                </StateMark>
              </Cell>
              <Cell className={css.id}>
                <Copy text={PeerID} what={`id of ${name(PeerID)}`} mono>
                  {shortPeerId(PeerID)}
                </Copy>
              </Cell>
              <Cell align="end" className={css.action}>
                {canChange &&
                  actionsOn(State).map(({ word, label, state, tone }, at) => (
                    // one button goes on as the next one when the state changes, and keeps the focus
                    <Button
                      key={at}
                      tone={tone}
                      busy={set.isPending}
                      aria-label={label(name(PeerID))}
                      onClick={() => {
                        if (set.isPending) return
                        if (state === 'revoked') setRevoking(member)
                        else set.mutate({ peer: PeerID, state })
                      }}
                    >
                      {word}
                    </Button>
                  ))}
              </Cell>
            </>
          )
        }}
      />
      {revoking !== undefined && (
        <Revoke
          name={name(revoking.PeerID)}
          peer={revoking.PeerID}
          onClose={() => setRevoking(undefined)}
          onRevoke={() => set.mutate({ peer: revoking.PeerID, state: 'revoked' })}
        />
      )}
    </>
  )
}

interface Action {
  readonly word: string
  readonly label: (name: string) => string
  readonly state: 'admitted' | 'revoked'
  readonly tone: 'plain' | 'quiet'
}

/** Gives what an administrator may do with a member in this state. */
function actionsOn(state: Member['State']): readonly Action[] {
  const letIn = (word: string): Action => ({
    word,
    label: (name) => `Let ${name} in`,
    state: 'admitted',
    tone: 'plain',
  })
  if (state === 'admitted') return [SHUT_OUT]
  if (state === 'provisional') return [letIn('Confirm'), SHUT_OUT]
  return [letIn(state === 'revoked' ? 'Let in again' : 'Let in')]
}

const SHUT_OUT: Action = {
  word: 'Shut out',
  label: (name) => `Shut ${name} out`,
  state: 'revoked',
  tone: 'quiet',
}

interface RevokeProps {
  readonly name: string
  readonly peer: string
  readonly onClose: () => void
  readonly onRevoke: () => void
}

function Revoke({ name, peer, onClose, onRevoke }: RevokeProps) {
  return (
    <Confirm
      title={`Shut ${name} out?`}
      action="Shut out"
      commands={[`mesh admin revoke ${peer}`]}
      onClose={onClose}
      onConfirm={onRevoke}
    >
      <p>
        All members close what is open with it within seconds: packets, services, files, relays and names.
        What it wrote into the ledger ends, but for keys of buckets such as notes that this node holds now.
      </p>
      <p className={css.hint}>
        It keeps the token, and what it has heard until now. Only this administrator can let it in again.
      </p>
    </Confirm>
  )
}
