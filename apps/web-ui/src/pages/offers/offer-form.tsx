import { ApiError } from '@mesh/api-client'
import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { type OfferRequest, usePutOffer } from '../../data/changes.ts'
import { type OfferKind, offerCommands } from '../../model/commands.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList } from '../../parts/command-list.tsx'
import { fieldClasses, Form, TextField } from '../../parts/field.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'

export interface OfferFormTexts {
  /** Label of the second field: `Target`. */
  readonly place: string
  readonly nameHint: React.ReactNode
  readonly placeHint: React.ReactNode
  readonly submit: string
  readonly submitting: string
  /** Tells what follows from what was typed as the place, before it is submitted. */
  readonly remark?: (place: string) => React.ReactNode
  /** The text that stands in the command while a field is empty. */
  readonly example: OfferRequest
}

interface OfferFormProps {
  readonly kind: OfferKind
  readonly texts: OfferFormTexts
  readonly given: OfferRequest
  readonly onDone: (name: string) => void
}

/** A name and an address or a path. What was typed stays until the node has taken it; errors stand at their field. */
export function OfferForm({ kind, texts, given, onDone }: OfferFormProps) {
  const [name, setName] = useState(given.name)
  const [place, setPlace] = useState(given.place)
  const put = usePutOffer(kind)
  const complete = name !== '' && place !== ''
  const wrong = fieldErrors(put.error)
  const command = { name: name || texts.example.name, place: place || texts.example.place }
  // what is wrong is told until it is typed over
  const typed = (set: (value: string) => void) => (value: string) => {
    set(value)
    if (put.isError) put.reset()
  }
  return (
    <Form
      onSubmit={() => {
        if (complete && !put.isPending) put.mutate({ name, place }, { onSuccess: () => onDone(name) })
      }}
    >
      <TextField
        label="Name"
        value={name}
        onChange={typed(setName)}
        hint={texts.nameHint}
        error={wrong.name}
        placeholder={texts.example.name}
        autoFocus={given.name === ''}
      />
      <TextField
        label={texts.place}
        value={place}
        onChange={typed(setPlace)}
        hint={texts.placeHint}
        error={wrong.place}
        placeholder={texts.example.place}
        autoFocus={given.name !== ''}
      />
      {texts.remark?.(place)}
      {wrong.isElsewhere && <WriteErrorNote error={put.error} />}
      <div className={fieldClasses.actions}>
        <Button type="submit" tone="primary" disabled={!complete} busy={put.isPending}>
          {put.isPending ? texts.submitting : texts.submit}
        </Button>
      </div>
      <details className={fieldClasses.details} open>
        <summary>The same from a terminal</summary>
        <CommandList
          title="On this machine"
          commands={offerCommands({ origin: nodeUrl, kind, name: command.name }, command.place)}
        />
      </details>
    </Form>
  )
}

interface FieldErrors {
  readonly name?: string
  readonly place?: string
  /** No field is the reason. */
  readonly isElsewhere: boolean
}

const NAME_CODES: readonly string[] = ['services.bad_name', 'services.name_in_use']
const PLACE_CODES: readonly string[] = ['services.bad_address', 'services.cannot_listen', 'files.unreadable']

/** Which field an error of the node is about, with its hint. */
function fieldErrors(error: Error | null): FieldErrors {
  if (!(error instanceof ApiError)) return { isElsewhere: error !== null }
  const text = sentence([error.message, error.hint].filter((part) => part !== undefined && part !== ''))
  if (NAME_CODES.includes(error.code)) return { name: text, isElsewhere: false }
  if (PLACE_CODES.includes(error.code)) return { place: text, isElsewhere: false }
  const issue = error.issues[0]
  if (issue === undefined) return { isElsewhere: true }
  const expected = `Expected: ${issue.expected}.`
  return issue.field === 'name'
    ? { name: expected, isElsewhere: false }
    : { place: expected, isElsewhere: false }
}

function sentence(parts: readonly (string | undefined)[]): string {
  const [first = '', ...rest] = parts
  const start = first.charAt(0).toUpperCase() + first.slice(1)
  return [/[.!?]$/.test(start) ? start : `${start}.`, ...rest].join(' ')
}
