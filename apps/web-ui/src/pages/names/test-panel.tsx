import { ApiError } from '@mesh/api-client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useRead } from '../../data/reads.ts'
import { DEFAULT_TYPE, resolveCommands } from '../../model/commands.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList } from '../../parts/command-list.tsx'
import { fieldClasses, Form, TextField } from '../../parts/field.tsx'
import { ErrorNote, LoadingRows } from '../../parts/notes.tsx'
import { SidePanel } from '../../parts/panel.tsx'
import css from './names.module.css'
import { ResolutionFacts } from './resolution-facts.tsx'

interface Question {
  readonly name: string
  readonly type: string
}

const EXAMPLE = 'git.lab'

/**
 * Asks the node who answers for a name. The question is in the address, and it is asked again when names, services or
 * machines change.
 */
export function TestPanel({ name, type = DEFAULT_TYPE }: { name: string; type: string | undefined }) {
  const navigate = useNavigate()
  /** The text that is being typed; undefined while the fields show what was asked. */
  const [draft, setDraft] = useState<Question>()
  const shown = draft ?? { name, type }
  const asked = name !== ''
  const read = useRead(
    'resolveName',
    { name, ...(type !== DEFAULT_TYPE && { type }) },
    { enabled: asked, everyMs: untilReady },
  )
  const question = { name: shown.name.trim(), type: shown.type.trim() || DEFAULT_TYPE }
  const wrong = draft === undefined ? fieldErrors(read.error) : {}
  const ask = () => {
    setDraft(undefined)
    if (question.name === name && question.type === type) return void read.refetch()
    const ofType = question.type === DEFAULT_TYPE ? {} : { type: question.type }
    void navigate({
      to: '/names',
      search: ({ q }) => ({
        view: 'test' as const,
        name: question.name,
        ...ofType,
        ...(q !== undefined && { q }),
      }),
    })
  }
  return (
    <SidePanel to="/names" label="Test a name">
      <Form
        onSubmit={() => {
          if (question.name !== '' && !read.isFetching) ask()
        }}
      >
        <div className={css.question}>
          <TextField
            label="Name"
            value={shown.name}
            onChange={(text) => setDraft({ ...shown, name: text })}
            placeholder={EXAMPLE}
            error={wrong.name}
            autoFocus={!asked}
          />
          <TextField
            label="Type"
            value={shown.type}
            onChange={(text) => setDraft({ ...shown, type: text.toUpperCase() })}
            placeholder={DEFAULT_TYPE}
            error={wrong.type}
          />
        </div>
        <div className={fieldClasses.actions}>
          <Button type="submit" tone="primary" disabled={question.name === '' || read.isFetching}>
            {read.isFetching ? 'Asking' : 'Test'}
          </Button>
        </div>
      </Form>
      {read.error !== null && wrong.name === undefined && wrong.type === undefined && draft === undefined && (
        <ErrorNote
          title="The node could not say who answers"
          error={read.error}
          retry={() => void read.refetch()}
        />
      )}
      {asked && read.isPending && read.error === null && <LoadingRows label="Asking the node" />}
      {read.data !== undefined && read.error === null && <ResolutionFacts resolution={read.data} />}
      <details className={fieldClasses.details} open>
        <summary>The same from a terminal</summary>
        <CommandList
          title="On this machine"
          commands={resolveCommands(nodeUrl, question.name || EXAMPLE, question.type)}
        />
      </details>
    </SidePanel>
  )
}

/** A node that has just started knows no names yet. */
const READY_EVERY_MS = 2_000

function untilReady(_known: unknown, error: Error | null): number | false {
  return error instanceof ApiError && error.code === 'node.not_ready' ? READY_EVERY_MS : false
}

/** Says what is wrong with the question itself, by field. */
function fieldErrors(error: Error | null): { readonly name?: string; readonly type?: string } {
  if (!(error instanceof ApiError)) return {}
  const textOf = (field: string) => {
    const issue = error.issues.find((each) => each.field === field)
    return issue === undefined ? {} : { [field]: `Expected: ${issue.expected}.` }
  }
  return { ...textOf('name'), ...textOf('type') }
}
