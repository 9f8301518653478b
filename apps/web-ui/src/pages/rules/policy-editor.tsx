import type { RulesCheckView, RulesView } from '@mesh/api-contract'
import { useId, useState } from 'react'
import { useCheckRules, useSignRules } from '../../data/changes.ts'
import { useRead } from '../../data/reads.ts'
import { fieldAt, helpOf } from '../../model/rules-words.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { fieldClasses, Form } from '../../parts/field.tsx'
import { ErrorNote, WriteErrorNote } from '../../parts/notes.tsx'
import { CheckResults } from './check-results.tsx'
import css from './rules.module.css'

/** The text in the editor while the network has no policy. */
const FIRST = `default: allow
groups: {}
tags: {}
allow: []
tests: []
`

/** Prepares a policy: it is checked, the difference is shown, and then the node signs it. */
export function PolicyEditor({ network }: { network: RulesView['Network'] }) {
  /** The text that is being typed, and the policy that it was made from; undefined while nobody edits. */
  const [draft, setDraft] = useState<{ readonly text: string; readonly serial: number }>()
  const [isForcing, setForcing] = useState(false)
  const inForce = network?.Serial ?? 0
  const { text, serial } = draft ?? { text: network?.Text ?? FIRST, serial: inForce }
  const check = useCheckRules()
  const sign = useSignRules()
  // what was checked before the last change says nothing of this text
  const checked = check.variables === text ? check.data : undefined
  const send = (Force: boolean) =>
    sign.mutate({ Text: text, Serial: serial, Force }, { onSuccess: () => setDraft(undefined) })
  return (
    <Form onSubmit={() => check.mutate(text)}>
      <PolicyField text={text} onChange={(next) => setDraft({ text: next, serial })} />
      {serial !== inForce && (
        <p role="status">
          Policy {inForce} was signed meanwhile.{' '}
          <Button onClick={() => setDraft(undefined)}>Begin again from it</Button>
        </p>
      )}
      <div className={fieldClasses.actions}>
        <Button type="submit" tone={checked === undefined ? 'primary' : 'plain'} busy={check.isPending}>
          Check
        </Button>
        {checked !== undefined && (
          <Button
            tone="primary"
            busy={sign.isPending}
            disabled={!passes(checked)}
            onClick={() => (checked.CutsOff ? setForcing(true) : send(false))}
          >
            Sign this policy
          </Button>
        )}
      </div>
      {check.error !== null && check.variables === text && (
        <ErrorNote title="The policy was not checked" error={check.error} />
      )}
      {checked !== undefined && <CheckResults check={checked} />}
      <WriteErrorNote error={sign.error} />
      {isForcing && (
        <Confirm
          title="Sign a policy that cuts this node off?"
          action="Sign it"
          commands={['mesh rules set rules.yaml --force']}
          onClose={() => setForcing(false)}
          onConfirm={() => send(true)}
        >
          <p>By this policy this node may begin nothing any more. It can still sign another policy.</p>
        </Confirm>
      )}
    </Form>
  )
}

function passes({ Tests }: RulesCheckView): boolean {
  return Tests.every(({ Passed }) => Passed)
}

/** The text, and what the schema says of the field at the caret. */
function PolicyField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const id = useId()
  const [place, setPlace] = useState(0)
  const { data: schema } = useRead('getRulesSchema', {})
  const help = helpOf(schema)
  const field = fieldAt(text, place) ?? 'default'
  return (
    <div className={fieldClasses.field}>
      <label htmlFor={id}>Policy</label>
      <textarea
        id={id}
        className={css.editor}
        value={text}
        rows={Math.min(30, Math.max(8, text.split('\n').length + 1))}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="none"
        aria-describedby={`${id}-help`}
        onChange={(event) => {
          onChange(event.target.value)
          setPlace(event.target.selectionStart)
        }}
        onSelect={(event) => setPlace(event.currentTarget.selectionStart)}
      />
      <p id={`${id}-help`} className={css.hint}>
        {help.has(field) && (
          <>
            <code>{field}</code>: {help.get(field)}
          </>
        )}
      </p>
    </div>
  )
}
