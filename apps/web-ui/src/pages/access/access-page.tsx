import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { AdmissionView } from '@mesh/api-contract'
import { useSetApproval } from '../../data/changes.ts'
import { useAdmission } from '../../data/reads.ts'
import { useMachines } from '../../data/machines.tsx'
import { FilterField } from '../../frame/filter-field.tsx'
import { InviteDialog } from '../../join/invite-dialog.tsx'
import { accessInWords, sortInvites, sortMembers } from '../../model/access-words.ts'
import { nameOrOwn } from '../../model/machine.ts'
import { Button } from '../../parts/button.tsx'
import { Command, Copy } from '../../parts/copy.tsx'
import { EmptyNote, Unread, WriteErrorNote } from '../../parts/notes.tsx'
import { useRowWalk } from '../../parts/rows.tsx'
import page from '../page.module.css'
import css from './access.module.css'
import { GateSection } from './gate-section.tsx'
import { InviteRows, MemberRows } from './access-rows.tsx'

/** Shows who may use the network, and changes it where this node may. */
export function AccessPage() {
  const read = useAdmission()
  const { data } = read
  const [inviting, setInviting] = useState(false)
  const list = useRowWalk()
  const isEmpty = data !== undefined && !data.Peerguard && data.Administrators.length === 0
  return (
    <div className={page.split}>
      <section className={`${page.list} ${css.scroll}`} aria-label="Access" ref={list}>
        <header className={page.head}>
          <h1>Access</h1>
          <Link to="/access/rules" className={page.link}>
            Rules: who may reach what
          </Link>
          <FilterField />
          {data?.HoldsKey === true && (
            <Button className={page.aside} onClick={() => setInviting(true)}>
              <Plus aria-hidden="true" />
              Invite a machine
            </Button>
          )}
        </header>
        <Unread what="who may use the network" read={read} />
        {isEmpty && <NobodyDecides />}
        {data !== undefined && !isEmpty && <Lists admission={data} />}
      </section>
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </div>
  )
}

function Lists({ admission }: { admission: AdmissionView }) {
  const { q = '' } = useSearch({ from: '/access' })
  const { machines } = useMachines()
  const called = new Map(admission.Members.map(({ PeerID, Name }) => [PeerID, Name]))
  const name = (id: string) => nameOrOwn(machines ?? [], id, called.get(id) ?? '')
  const fits = (...texts: readonly string[]) =>
    texts.some((each) => each.toLowerCase().includes(q.trim().toLowerCase()))
  const { Administrators, HoldsKey, Revoked, Peerguard } = admission
  const members = sortMembers(
    admission.Members.filter(({ PeerID }) => fits(name(PeerID), PeerID)),
    name,
  )
  const invites = sortInvites(admission.Invites.filter(({ Label, Invite }) => fits(Label, Invite)))
  return (
    <>
      <p className={css.sentence}>{accessInWords(admission)}</p>
      {Revoked && (
        <p className={`${css.note} ${css.alarm}`} role="alert">
          This node itself was shut out: members refuse it until an administrator lets it in again.
        </p>
      )}
      {Peerguard && <GateSection isOn={admission.Gate} name={name} filter={q} />}
      {Administrators.length > 0 && (
        <>
          {!HoldsKey && <NoKeyNote />}
          <Section title="Members" count={members.length}>
            {members.length === 0 ? (
              <p className={css.hint}>{q === '' ? 'Nobody is in yet.' : 'Nobody here fits the filter.'}</p>
            ) : (
              <MemberRows rows={members} name={name} canChange={HoldsKey} />
            )}
          </Section>
          <Section title="Invites" count={invites.length}>
            <ApprovalSwitch isOn={admission.NeedsApproval} canChange={HoldsKey} />
            {invites.length === 0 ? (
              <p className={css.hint}>
                {q === ''
                  ? 'An invite is a code with which one machine lets itself in, until it ends.'
                  : 'No invite fits the filter.'}
              </p>
            ) : (
              <InviteRows rows={invites} name={name} canChange={HoldsKey} />
            )}
          </Section>
          <AdministratorKeys ids={Administrators} />
        </>
      )}
    </>
  )
}

/** Whether an invite is enough, or an administrator lets each machine in. */
function ApprovalSwitch({ isOn, canChange }: { isOn: boolean; canChange: boolean }) {
  const set = useSetApproval()
  return (
    <>
      <p className={css.hint}>
        {isOn
          ? 'Approval is on: a machine with an invite waits until an administrator lets it in. '
          : 'An invite is enough to be let in. '}
        {canChange && (
          <Button tone="quiet" busy={set.isPending} onClick={() => set.isPending || set.mutate(!isOn)}>
            {isOn ? 'Ask for no approval' : 'Ask for approval'}
          </Button>
        )}
      </p>
      <WriteErrorNote error={set.error} />
    </>
  )
}

function AdministratorKeys({ ids }: { ids: readonly string[] }) {
  return (
    <Section title="Administrators" count={ids.length}>
      <p className={css.hint}>Public keys that the token names; what they sign counts on every node.</p>
      <ul className={css.keys}>
        {ids.map((id) => (
          <li key={id}>
            <Copy text={id} what="administrator's key" mono wrap />
          </li>
        ))}
      </ul>
    </Section>
  )
}

interface SectionProps {
  readonly title: string
  readonly count: number
  readonly children: React.ReactNode
}

function Section({ title, count, children }: SectionProps) {
  return (
    <section className={`${page.section} ${css.section}`} aria-label={title}>
      <h2>
        {title} <span>{count}</span>
      </h2>
      {children}
    </section>
  )
}

function NoKeyNote() {
  return (
    <p className={css.note}>
      This node holds no administrator's key, so that it only shows who is in. On the machine that holds one:{' '}
      <Copy text="mesh admin invite" what="command" mono />
    </p>
  )
}

/** Where anyone who has the token is in: how that is changed. */
function NobodyDecides() {
  return (
    <EmptyNote title="Anyone who has the token of this network is in">
      <p>
        Administrators decide who may use a network, on all its nodes. This makes a key on this machine and
        prints a token that names it, for every machine in place of the old one:
      </p>
      <Command text="mesh admin init --token-file mesh.token > admin.token" />
      <p>
        A peer gate compatible with EdgeVPN's is this node's own: start it with{' '}
        <code className={css.flag}>--peerguard</code>.
      </p>
    </EmptyNote>
  )
}
