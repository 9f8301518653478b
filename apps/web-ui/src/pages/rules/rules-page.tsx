import { Link } from '@tanstack/react-router'
import type { RulesView } from '@mesh/api-contract'
import { useAdmission, useRules } from '../../data/reads.ts'
import { endsInWords, offersInWords } from '../../model/rules-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Unread } from '../../parts/notes.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Cell } from '../../parts/table.tsx'
import { Age } from '../../parts/time.tsx'
import page from '../page.module.css'
import { PolicyEditor } from './policy-editor.tsx'
import css from './rules.module.css'

/** Shows who may reach what, and changes it where this node holds an administrator's key. */
export function RulesPage() {
  const read = useRules()
  const { data } = read
  return (
    <div className={page.page}>
      <header className={page.head}>
        <h1>Access rules</h1>
        <Link to="/access" className={page.link}>
          Who is in
        </Link>
      </header>
      <Unread what="the access rules" read={read} />
      {data !== undefined && <Rules rules={data} />}
    </div>
  )
}

function Rules({ rules }: { rules: RulesView }) {
  const { Network, Own, Table, More, Refused } = rules
  return (
    <>
      <p className={css.sentence}>
        <InForce network={Network} />
      </p>
      {Network !== null && <ReachSection rows={Table} isCut={More} />}
      {Own !== null && (
        <Section title="Rules of this node alone">
          <p className={css.hint}>
            From <code>{shownName(Own.File)}</code>. What reaches this node must pass them too.
          </p>
          <pre className={css.text}>{Own.Text}</pre>
        </Section>
      )}
      {Refused.length > 0 && <RefusedSection refused={Refused} />}
      <Section title="Change the policy">
        {rules.CanSign ? <PolicyEditor network={Network} /> : <WhyNotHere />}
      </Section>
    </>
  )
}

function InForce({ network }: { network: RulesView['Network'] }) {
  if (network === null) return <>No policy is in force: every member reaches everything.</>
  const signedAt = Date.parse(network.SignedAt)
  return (
    <>
      Policy {network.Serial} is in force. An administrator signed it{' '}
      {Number.isNaN(signedAt) ? 'once' : <Age at={signedAt} isSentence />}.{' '}
      {network.Policy.default === 'allow' && 'It allows everything.'}
    </>
  )
}

function ReachSection({ rows, isCut }: { rows: RulesView['Table']; isCut: boolean }) {
  return (
    <Section title="Who reaches what">
      {rows.length === 0 ? (
        <p className={css.hint}>Nobody reaches anything.</p>
      ) : (
        <Rows
          label="Who reaches what"
          columns={[{ title: 'From' }, { title: 'To' }, { title: 'On' }]}
          rowClass={css.reach}
          rows={rows}
          rowKey={({ From, To }) => `${From[0]?.Word} ${To[0]?.Word}`}
          renderCells={({ From, To, On }) => (
            <>
              <Cell className={css.cell}>{endsInWords(From)}</Cell>
              <Cell className={css.cell}>{endsInWords(To)}</Cell>
              <Cell className={css.cell}>{offersInWords(On)}</Cell>
            </>
          )}
        />
      )}
      {isCut && <p className={css.hint}>There is more than this table shows.</p>}
    </Section>
  )
}

function RefusedSection({ refused }: { refused: RulesView['Refused'] }) {
  return (
    <Section title="Refused by this node">
      <Rows
        label="Refused by this node"
        columns={[{ title: 'From' }, { title: 'To' }, { title: 'Last' }, { title: 'Times', align: 'end' }]}
        rowClass={css.refused}
        rows={refused}
        rowKey={({ From, To }) => `${From.Word} ${To.Word}`}
        renderCells={({ From, To, On, Count, LastAt }) => (
          <>
            <Cell className={css.cell}>{shownName(From.Name)}</Cell>
            <Cell className={css.cell}>{shownName(To.Name)}</Cell>
            <Cell className={css.cell}>
              {On}, <Age at={Date.parse(LastAt)} isSentence />
            </Cell>
            <Cell align="end">{String(Count)}</Cell>
          </>
        )}
      />
    </Section>
  )
}

/** Says where the policy can be signed instead. */
function WhyNotHere() {
  const { data } = useAdmission()
  if (data === undefined) return null
  if (data.Administrators.length > 0) {
    return (
      <p className={css.hint}>
        This node holds no administrator's key. On the machine that holds one:{' '}
        <Copy text="mesh rules edit" what="command" mono />
      </p>
    )
  }
  return (
    <p className={css.hint}>
      A network without administrators has no policy of its own; <code>mesh admin init</code> makes one. A
      node can have rules for what reaches it: <Copy text="mesh --rules rules.yaml" what="command" mono />
    </p>
  )
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className={`${page.section} ${css.section}`} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
