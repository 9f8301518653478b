import { ApiError } from '@mesh/api-client'
import type { GuestConfigurationView, GuestView } from '@mesh/api-contract'
import { Link, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useEffect, useRef, useState } from 'react'
import { useAddGuest, useRemoveGuest } from '../../data/changes.ts'
import { useExit, useGuests } from '../../data/reads.ts'
import { FilterField } from '../../frame/filter-field.tsx'
import { exitInWords } from '../../model/exit-words.ts'
import { bytesInWords } from '../../model/rate-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy } from '../../parts/copy.tsx'
import { fieldClasses, Form, TextField } from '../../parts/field.tsx'
import { Unread, WriteErrorNote } from '../../parts/notes.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { Age } from '../../parts/time.tsx'
import { EmptyPicture } from '../../parts/empty-picture.tsx'
import page from '../page.module.css'
import css from './guests.module.css'

/** Stock WireGuard apps that this node carries for, and the exit node, if there is one. */
export function GuestsPage() {
  const { q = '' } = useSearch({ from: '/guests' })
  const filter = useDeferredValue(q).toLowerCase()
  const read = useGuests()
  const { data, error } = read
  const [added, setAdded] = useState<GuestConfigurationView>()
  const hasNoVpn = error instanceof ApiError && error.code === 'vpn.not_running'
  return (
    <div className={page.page}>
      <header className={page.head}>
        <h1>Guests</h1>
        <FilterField />
      </header>
      <p className={page.sub}>
        Phones, routers and others with a WireGuard app: an address of the VPN, without mesh on the device.
      </p>
      {hasNoVpn && (
        <p>
          Guests need the VPN. Start the node with <code>sudo mesh</code> instead of <code>mesh api</code>.
        </p>
      )}
      {!hasNoVpn && <Unread what="the guests" read={read} />}
      {data !== undefined && (
        <>
          <ExitLine />
          <GuestList guests={data.filter(({ Name }) => Name.toLowerCase().includes(filter))} />
          {added === undefined ? (
            <AddGuest onAdded={setAdded} />
          ) : (
            <Configuration guest={added} onClose={() => setAdded(undefined)} />
          )}
        </>
      )}
    </div>
  )
}

function ExitLine() {
  const { data } = useExit()
  if (data === undefined) return null
  const { ExitNode, OffersExit } = data
  return (
    <>
      {ExitNode !== null && (
        <p role="status" className={css.exit}>
          <Link to="/exit" className={page.link}>
            Exit node
          </Link>{' '}
          {shownName(ExitNode.Hostname || ExitNode.Wanted)}: {exitInWords(ExitNode)}
        </p>
      )}
      {OffersExit !== null && <p>This node is an exit node for members.</p>}
    </>
  )
}

function GuestList({ guests }: { guests: readonly GuestView[] }) {
  const remove = useRemoveGuest()
  const [removing, setRemoving] = useState<string>()
  return (
    <section className={page.section} aria-label="Guests of this node">
      {guests.length === 0 && (
        <>
          <EmptyPicture of="guests" />
          <p className={css.faint}>No guests.</p>
        </>
      )}
      <ul>
        {guests.map(({ Name, Address, Address6, Handshake, BytesIn, BytesOut, ...config }) => (
          <li key={Name} className={css.row}>
            <span className={css.name}>{Name}</span>
            <span className={css.facts}>
              <Copy text={Address} what="address" mono />
              {Address6 !== null && <Copy text={Address6} what="address" mono />}
            </span>
            <span className={css.facts}>
              {Handshake === null ? (
                <span className={css.faint}>never seen</span>
              ) : (
                <span>
                  seen <Age at={Date.parse(Handshake)} isSentence />
                </span>
              )}
              <ConfigRemarks {...config} />
            </span>
            <span className={css.traffic}>
              <span title="From the guest">{bytesInWords(BytesIn)}</span>
              <span className={css.faint}> from it, </span>
              <span title="To the guest">{bytesInWords(BytesOut)}</span>
              <span className={css.faint}> to it</span>
            </span>
            <Button
              tone="danger"
              disabled={remove.isPending}
              onClick={() => setRemoving(Name)}
              aria-label={`Remove ${Name}`}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <WriteErrorNote error={remove.error} />
      {removing !== undefined && (
        <Confirm
          title={`Remove ${removing}?`}
          action="Remove"
          refusal="Keep it"
          commands={[`mesh guest remove ${removing}`]}
          onClose={() => setRemoving(undefined)}
          onConfirm={() => remove.mutate(removing)}
        >
          <p>
            The node cuts it off at once. Its configuration never works again, even if a new guest gets the
            same name.
          </p>
        </Confirm>
      )}
    </section>
  )
}

/** Tells of the configuration that a guest has. */
function ConfigRemarks({
  FullTunnel,
  NodeEndpoint,
  NodeMoved,
}: Pick<GuestView, 'FullTunnel' | 'NodeEndpoint' | 'NodeMoved'>) {
  return (
    <>
      {FullTunnel && <span title="All that it sends goes through this node">full tunnel</span>}
      {NodeMoved && (
        <span role="status">
          looks for this node at {NodeEndpoint ?? 'another address'}, where it is not any more: change
          Endpoint in its app
        </span>
      )}
    </>
  )
}

function AddGuest({ onAdded }: { onAdded: (guest: GuestConfigurationView) => void }) {
  const [name, setName] = useState('')
  const [endpoint, setEndpoint] = useState('')
  const [fullTunnel, setFullTunnel] = useState(false)
  const add = useAddGuest()
  return (
    <Form
      className={css.form}
      aria-label="Add a guest"
      onSubmit={() => {
        if (name !== '' && !add.isPending) add.mutate({ name, endpoint, fullTunnel }, { onSuccess: onAdded })
      }}
    >
      <h2>Add a guest</h2>
      <TextField label="Name" value={name} onChange={setName} placeholder="phone" />
      <TextField
        label="Where it finds this node (may be empty)"
        value={endpoint}
        onChange={setEndpoint}
        placeholder="vpn.example.org:51820"
        hint="Empty: the address at which this node is most probably found."
      />
      <label className={css.choice}>
        <input
          type="checkbox"
          checked={fullTunnel}
          onChange={(event) => setFullTunnel(event.target.checked)}
        />
        Full tunnel: its Internet traffic goes through this node and its exit
      </label>
      <WriteErrorNote error={add.error} />
      <div className={fieldClasses.actions}>
        <Button type="submit" tone="primary" disabled={name === ''} busy={add.isPending}>
          {add.isPending ? 'Adding' : 'Add guest'}
        </Button>
      </div>
    </Form>
  )
}

/** Shown once: the node does not know the private key. */
function Configuration({ guest, onClose }: { guest: GuestConfigurationView; onClose: () => void }) {
  const { Name, Configuration: text } = guest
  const isFullTunnel = /^AllowedIPs = .*\b0\.0\.0\.0\/0/m.test(text)
  const title = useRef<HTMLHeadingElement>(null)
  // the form that was sent is gone
  useEffect(() => title.current?.focus(), [])
  return (
    <section className={`${page.section} ${css.configuration}`} aria-label={`Configuration of ${Name}`}>
      <h2 ref={title} tabIndex={-1} className={css.title}>
        Configuration of {Name}
      </h2>
      <p>
        Scan this with the WireGuard app, or import the text as a file. It holds the private key and is not
        shown again.
      </p>
      {isFullTunnel && !/^DNS = /m.test(text) && (
        <p>
          This node answers no DNS that the guest could ask: it asks its own servers, and those of its local
          network past the tunnel. A node that was started with <code>--dns :53</code> answers.
        </p>
      )}
      <div className={css.codes}>
        <QrCode text={text} label={`QR code of the configuration of ${Name}`} />
        <pre className={css.text}>{text}</pre>
      </div>
      <div className={fieldClasses.actions}>
        <Copy text={text} what="configuration" icon>
          Copy the configuration
        </Copy>
        <Button onClick={onClose}>Done</Button>
      </div>
    </section>
  )
}
