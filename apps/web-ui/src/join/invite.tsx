import { useState } from 'react'
import type { NewInvite, useCreateInvite } from '../data/changes.ts'
import { exactTime } from '../model/time-words.ts'
import { Button } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { fieldClasses, Form, TextField } from '../parts/field.tsx'
import { WriteErrorNote } from '../parts/notes.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import css from './join.module.css'

const HOUR_S = 3_600
const LIVES = [
  { words: '1 hour', seconds: HOUR_S },
  { words: '1 day', seconds: 24 * HOUR_S },
  { words: '7 days', seconds: 168 * HOUR_S },
  { words: '30 days', seconds: 720 * HOUR_S },
] as const

const MEMBERSHIPS = [
  { words: 'for good', seconds: undefined },
  { words: '8 hours', seconds: 8 * HOUR_S },
  { words: '7 days', seconds: 168 * HOUR_S },
  { words: '30 days', seconds: 720 * HOUR_S },
] as const

interface InviteFormProps {
  readonly create: ReturnType<typeof useCreateInvite>
  readonly autoFocus?: boolean
  /** Buttons beside the one that makes it. */
  readonly children?: React.ReactNode
}

/** Asks for whom an invite is, how long it lasts, and how long its machine is a member. */
export function InviteForm({ create, autoFocus = false, children }: InviteFormProps) {
  const [label, setLabel] = useState('')
  const [life, setLife] = useState<number>(LIVES[1].seconds)
  const [membership, setMembership] = useState<number>()
  return (
    <Form
      onSubmit={() => {
        if (create.isPending) return
        create.mutate({ label: label.trim(), lifeSeconds: life, memberForSeconds: membership })
      }}
    >
      <TextField
        label="For whom"
        value={label}
        onChange={setLabel}
        placeholder="laptop"
        hint="A remark for the list; it may be left empty."
        autoFocus={autoFocus}
      />
      <fieldset className={css.choices}>
        <legend>It may be used for</legend>
        {LIVES.map(({ words, seconds }) => (
          <label key={words}>
            <input type="radio" name="life" checked={life === seconds} onChange={() => setLife(seconds)} />
            {words}
          </label>
        ))}
      </fieldset>
      <fieldset className={css.choices}>
        <legend>The machine is a member</legend>
        {MEMBERSHIPS.map(({ words, seconds }) => (
          <label key={words}>
            <input
              type="radio"
              name="membership"
              checked={membership === seconds}
              onChange={() => setMembership(seconds)}
            />
            {words}
          </label>
        ))}
      </fieldset>
      <WriteErrorNote error={create.error} />
      <div className={fieldClasses.actions}>
        <Button type="submit" tone="primary" busy={create.isPending}>
          {create.isPending ? 'Making it' : 'Make an invite'}
        </Button>
        {children}
      </div>
    </Form>
  )
}

/** The link, code and end of an invite, which the node tells only once. */
export function InviteCode({ invite }: { invite: NewInvite }) {
  return (
    <>
      <p>The machine joins with the network's token and this invite. The page shows the invite only once:</p>
      <div className={css.invite}>
        <QrCode text={invite.Link} label="QR code of the invite" />
        <dl className={css.inviteFacts}>
          <dt>Link, as in the QR code</dt>
          <dd className={css.code}>
            <Copy text={invite.Link} what="invite link" mono wrap autoFocus />
          </dd>
          <dt>Code</dt>
          <dd className={css.code}>
            <Copy text={invite.Code} what="invite code" mono wrap />
          </dd>
          <dt>Expires</dt>
          <dd>{exactTime(Date.parse(invite.ExpiresAt))}</dd>
        </dl>
      </div>
      <p className={css.hint}>
        One machine can use the invite: the first that does is in. Send it as you would send a password.
      </p>
    </>
  )
}
