import type { RulesCheckView } from '@mesh/api-contract'
import { changeKind, endsInWords, offersInWords } from '../../model/rules-words.ts'
import { shownText } from '../../model/shown-name.ts'
import { Rows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Cell } from '../../parts/table.tsx'
import css from './rules.module.css'

const TONES = { gains: 'relayed', loses: 'refused', changes: 'warning' } as const

/** The tests of a policy, and the pairs that gain or lose by it. */
export function CheckResults({ check }: { check: RulesCheckView }) {
  return (
    <>
      <Tests tests={check.Tests} />
      <h3 className={css.title}>What changes</h3>
      {check.Changes.length === 0 ? (
        <p className={css.hint}>Nothing, for the members, guests and networks that are known.</p>
      ) : (
        <Rows
          label="What changes"
          columns={[{ title: '' }, { title: 'From' }, { title: 'To' }, { title: 'Now' }, { title: 'Then' }]}
          rowClass={css.change}
          rows={check.Changes}
          rowKey={({ From, To }) => `${From[0]?.Word} ${To[0]?.Word}`}
          renderCells={(change) => (
            <>
              <Cell>
                <StateMark tone={TONES[changeKind(change)]} word={changeKind(change)} />
              </Cell>
              <Cell className={css.cell}>{endsInWords(change.From)}</Cell>
              <Cell className={css.cell}>{endsInWords(change.To)}</Cell>
              <Cell className={css.cell}>{offersInWords(change.Before)}</Cell>
              <Cell className={css.cell}>{offersInWords(change.After)}</Cell>
            </>
          )}
        />
      )}
      {check.More && <p className={css.hint}>There are more changes.</p>}
    </>
  )
}

function Tests({ tests }: { tests: RulesCheckView['Tests'] }) {
  const failed = tests.filter(({ Passed }) => !Passed)
  return (
    <>
      <h3 className={css.title}>Tests</h3>
      {tests.length === 0 ? (
        <p className={css.hint}>
          The policy has no tests. Tests say what it must do, so that a later change cannot break it.
        </p>
      ) : (
        <p>
          {tests.length - failed.length} of {tests.length} pass.
        </p>
      )}
      {failed.length > 0 && (
        <ul className={css.tests} aria-label="Failed tests">
          {failed.map(({ From, To, On, Expect, Sentence }) => (
            <li key={`${From} ${To} ${On} ${Expect}`}>
              <StateMark tone="refused" word="failed" /> {shownText(Sentence)}. The test expects: {Expect}.
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
