import type { KeptBlockView, SignedEntryView } from '@mesh/api-contract'
import { parseExactJson } from '@mesh/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { shownName, shownText } from '../../model/shown-name.ts'
import { checkSignature } from '../../model/signed-entry.ts'
import { countInWords } from '../../model/rate-words.ts'
import { diffLines, foldLines } from '../../model/text-diff.ts'
import { printForTyping } from '../../model/typed-value.ts'
import { cx } from '../../parts/class-names.ts'
import { Copy } from '../../parts/copy.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Tag } from '../../parts/tag.tsx'
import { Age } from '../../parts/time.tsx'
import { SignatureMark, Signer } from '../ledger/signer.tsx'
import css from './blockchain.module.css'

type Change = KeptBlockView['Changed'][number]

/** Longer differences are shown in part until somebody asks for more. */
const LINES_SHOWN = 24

/** Shows what one key was before and after, who signed it, and whether that is true. */
export function BlockChange({ change }: { change: Change }) {
  const { Bucket, Key, Before, After } = change
  return (
    <section className={css.change} aria-label={`${shownName(Bucket)}/${shownName(Key)}`}>
      <header className={css.changeHead}>
        <Link to="/ledger" search={{ bucket: Bucket, key: Key }} className={css.key}>
          {shownName(Bucket)}/{shownName(Key)}
        </Link>
        <ChangeTag before={Before} after={After} />
      </header>
      <ValueDiff before={textOf(Before)} after={textOf(After)} />
      <div className={css.signed}>
        {After.Owner !== '' && <Signer id={After.Owner} />}
        <Check change={change} />
      </div>
      <p className={css.faint}>
        {After.UpdatedAt > 0 && (
          <>
            written <Age at={After.UpdatedAt * 1_000} />,{' '}
          </>
        )}
        version <Copy text={String(After.Version)} what="version" mono />
      </p>
    </section>
  )
}

function ChangeTag({ before, after }: { before: SignedEntryView | null; after: SignedEntryView }) {
  if (after.Deleted) return <Tag tone="broken">deleted</Tag>
  if (before === null || before.Deleted) return <Tag tone="ledger">new</Tag>
  return before.Value === after.Value ? <Tag tone="plain">renewed</Tag> : <Tag tone="plain">changed</Tag>
}

function Check({ change: { Bucket: bucket, Key: key, After: signed } }: { change: Change }) {
  const check = useMemo(() => checkSignature({ bucket, key, signed }), [bucket, key, signed])
  if (signed.Deleted && signed.Sig === null) return <StateMark tone="offline" word="removed by this node" />
  return <SignatureMark check={check} />
}

/** The value as a person would type it; undefined where there is none. */
function textOf(entry: SignedEntryView | null): string | undefined {
  if (entry === null || entry.Deleted) return undefined
  try {
    return printForTyping(parseExactJson(entry.Value))
  } catch {
    return entry.Value
  }
}

interface ValueDiffProps {
  readonly before: string | undefined
  readonly after: string | undefined
}

function ValueDiff({ before, after }: ValueDiffProps) {
  const isSame = before === after
  const lines = useMemo(() => {
    const all = diffLines(before, after)
    return before === after ? all : foldLines(all)
  }, [before, after])
  const { drawn, more } = useFewRows(lines, LINES_SHOWN)
  if (lines.length === 0) return <p className={css.faint}>No value before and after.</p>
  return (
    <>
      <ol className={css.diff} aria-label={isSame ? 'Value' : 'What changed'}>
        {drawn.map((line, at) => (
          // lines have no name: they never move
          <li key={at} className={cx(css.line, css[line.kind])}>
            {line.kind === 'fold' ? (
              `${countInWords(line.count)} lines as before`
            ) : (
              <>
                <span className={css.sign}>{SIGNS[line.kind]}</span>
                {line.kind !== 'same' && <span className={css.unseen}>{WORDS[line.kind]}: </span>}
                {shownText(line.text)}
              </>
            )}
          </li>
        ))}
      </ol>
      {more}
    </>
  )
}

const SIGNS = { same: '', gone: '−', new: '+' } as const
const WORDS = { gone: 'before', new: 'now' } as const
