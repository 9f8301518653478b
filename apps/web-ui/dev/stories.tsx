/** Each part of `src/parts` in each of its states. */
import { ApiError } from '@mesh/api-client'
import { useState } from 'react'
import type { Reach } from '../src/model/machine.ts'
import type { StateTone } from '../src/model/state-tone.ts'
import type { WriteState } from '../src/model/tracked-write.ts'
import { Button, buttonLink } from '../src/parts/button.tsx'
import { Chart } from '../src/parts/chart.tsx'
import { CommandList } from '../src/parts/command-list.tsx'
import { Confirm } from '../src/parts/confirm.tsx'
import { Command, Copy } from '../src/parts/copy.tsx'
import { Dialog } from '../src/parts/dialog.tsx'
import { fieldClasses, Form, TextField } from '../src/parts/field.tsx'
import { Glyph } from '../src/parts/glyph.tsx'
import { Mark } from '../src/parts/mark.tsx'
import { EmptyNote, ErrorNote, Unread, WriteErrorNote } from '../src/parts/notes.tsx'
import { Facts, PanelSection, SidePanel } from '../src/parts/panel.tsx'
import { QrCode } from '../src/parts/qr-code.tsx'
import { Rate } from '../src/parts/rate.tsx'
import { ReachMark } from '../src/parts/reach-mark.tsx'
import { Rows } from '../src/parts/rows.tsx'
import { Sparkline } from '../src/parts/sparkline.tsx'
import { StateMark } from '../src/parts/state-mark.tsx'
import { Cell, type Column, rowLink } from '../src/parts/table.tsx'
import { Tag } from '../src/parts/tag.tsx'
import { Age } from '../src/parts/time.tsx'
import { VirtualRows } from '../src/parts/virtual-rows.tsx'
import { WriteMark } from '../src/parts/write-mark.tsx'

const ID = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const OTHER = '12D3KooWLbDHQoJ2dUwkQ3ykVLTMMHPVPD6ZZSDk42tU5RXD5YRz'
const NOW = Date.now()
const ERROR = new ApiError('ledger.not_owner', 'notes/a belongs to nas', {
  status: 409,
  requestId: 'fec5c6c33c83a5d6',
  hint: 'Ask the owner to delete it.',
  owner: OTHER,
})
const NO_ANSWER = new ApiError('client.unreachable', 'the node does not answer')
const wave = (size: number) => Array.from({ length: 60 }, (_, at) => size * (1.2 + Math.sin(at / size)))

const TONES: readonly StateTone[] = [
  'self',
  'direct',
  'relayed',
  'indirect',
  'offline',
  'announcing',
  'committed',
  'refused',
  'warning',
]
const REACHES: readonly Reach[] = [
  { kind: 'self' },
  { kind: 'direct', roundTripMs: 4 },
  { kind: 'direct', roundTripMs: undefined },
  { kind: 'relayed', roundTripMs: 61 },
  { kind: 'indirect' },
  { kind: 'offline', lastSeen: NOW - 3_600_000 },
  { kind: 'offline', lastSeen: undefined },
]
const OUTCOMES: readonly WriteState[] = [
  { state: 'announcing' },
  { state: 'announced' },
  { state: 'committed', block: 12 },
  { state: 'superseded' },
  { state: 'refused', error: ERROR },
  { state: 'refused', error: NO_ANSWER },
]

const States = ({ children }: { children: React.ReactNode }) => <div className="states">{children}</div>

function Buttons() {
  return (
    <States>
      {(['plain', 'primary', 'danger', 'quiet'] as const).flatMap((tone) => [
        <Button key={tone} tone={tone}>
          {tone}
        </Button>,
        <Button key={`${tone} busy`} tone={tone} busy>
          {tone} busy
        </Button>,
        <Button key={`${tone} disabled`} tone={tone} disabled>
          {tone} disabled
        </Button>,
      ])}
      <a href="#link" className={buttonLink}>
        link
      </a>
    </States>
  )
}

function Fields() {
  const [value, setValue] = useState('typed')
  const common = { value, onChange: setValue }
  return (
    <Form onSubmit={() => {}}>
      <TextField label="Plain" {...common} />
      <TextField label="Empty" value="" placeholder="git.lab" onChange={() => {}} />
      <TextField label="With a hint" hint="Letters, digits and dots." {...common} />
      <TextField label="With a fault" error="This name is taken." {...common} />
      <TextField label="Secret" secret {...common} />
      <div className={fieldClasses.actions}>
        <Button tone="primary">Save</Button>
      </div>
    </Form>
  )
}

function Notes() {
  const read = { data: undefined, refetch: () => {} }
  return (
    <>
      <Unread what="the machines" read={{ ...read, error: null }} />
      <Unread what="the machines" read={{ ...read, error: NO_ANSWER }} />
      <EmptyNote title="No machine yet">
        <p>A machine that joins stands here.</p>
      </EmptyNote>
      <ErrorNote title="The entry could not be read" error={ERROR} />
      <WriteErrorNote error={ERROR} />
      <WriteErrorNote error={NO_ANSWER} />
    </>
  )
}

const COLUMNS: readonly Column[] = [
  { title: 'Name', sorted: 'ascending', onSort: () => {} },
  { title: 'Bucket', sorted: 'descending', onSort: () => {} },
  { title: 'Now', align: 'end' },
]
const TABLE = {
  label: 'Things',
  columns: COLUMNS,
  rowClass: 'row',
  rows: Array.from({ length: 300 }, (_, at) => `thing ${at + 1}`),
  rowKey: (row: string) => row,
  isSelected: (row: string) => row === 'thing 2',
  renderCells: (row: string) => (
    <>
      <Cell title={row}>
        <a href="#row" className={rowLink}>
          {row}
        </a>
      </Cell>
      <Cell>services</Cell>
      <Cell align="end">
        <Rate bytesPerSecond={8_420} />
      </Cell>
    </>
  ),
}

function Dialogs() {
  const [open, setOpen] = useState('')
  const close = () => setOpen('')
  return (
    <States>
      {['a dialog', 'a wide dialog', 'a question'].map((each) => (
        <Button key={each} onClick={() => setOpen(each)}>
          Open {each}
        </Button>
      ))}
      {open.endsWith('dialog') && (
        <Dialog title={open} onClose={close} {...(open.includes('wide') && { look: 'wide' })}>
          <Button onClick={close}>Close</Button>
        </Dialog>
      )}
      {open === 'a question' && (
        <Confirm
          title="Delete it?"
          action="Delete"
          commands={['mesh delete notes a']}
          onClose={close}
          onConfirm={close}
        >
          <p>All members forget it.</p>
        </Confirm>
      )}
    </States>
  )
}

const CHART_TIMES = wave(1).map((_, at) => NOW / 1_000 - 600 + 10 * at)
const CHART_SERIES = ['nas', 'cabin', 'build', 'camera', 'office', 'studio'].map((name, at) => ({
  name,
  values: wave(3 + at),
}))

/** By the heading over each. */
export const stories: Readonly<Record<string, React.ComponentType>> = {
  Buttons,
  Fields,
  'State marks': () => (
    <States>
      {TONES.map((tone) => (
        <StateMark key={tone} tone={tone} word={tone}>
          and more
        </StateMark>
      ))}
    </States>
  ),
  Reach: () => (
    <States>
      {REACHES.map((reach) => (
        <ReachMark key={JSON.stringify(reach)} machine={{ ...MACHINE, reach }} />
      ))}
    </States>
  ),
  Writes: () => (
    <States>
      {OUTCOMES.map((outcome) => (
        <WriteMark
          key={JSON.stringify(outcome)}
          write={{ request: { action: 'put', bucket: 'notes', key: 'a', value: 1 }, at: NOW, outcome }}
        />
      ))}
    </States>
  ),
  Tags: () => (
    <States>
      {(['ledger', 'broken', 'relay', 'plain'] as const).map((tone) => (
        <Tag key={tone} tone={tone}>
          {tone}
        </Tag>
      ))}
    </States>
  ),
  Glyphs: () => (
    <States>
      <Glyph id={ID} />
      <Glyph id={OTHER} />
      <Glyph id={ID} large />
      <Mark className="mark" />
    </States>
  ),
  'Copy and commands': () => (
    <>
      <Copy text={ID} what="id" mono />
      <Copy text="203.0.113.7" what="address" icon />
      <Command text="mesh status" />
      <CommandList
        title="Offer it"
        commands={{ mesh: 'mesh service add wiki 127.0.0.1:80', curl: 'curl -X PUT ...' }}
      />
    </>
  ),
  'Rates and times': () => (
    <States>
      {[0, 12, 8_420, 1e6, 4e9].map((rate) => (
        <Rate key={rate} bytesPerSecond={rate} />
      ))}
      {[0, 90_000, 86_400_000].map((age) => (
        <Age key={age} at={NOW - age} />
      ))}
    </States>
  ),
  Sparklines: () => (
    <States>
      <Sparkline label="busy" values={wave(5)} />
      <Sparkline label="idle" values={[]} />
      <Sparkline label="wide" values={wave(5)} isWide />
    </States>
  ),
  Chart: () => (
    <Chart label="In" times={CHART_TIMES} series={CHART_SERIES} format={(value) => value.toFixed(1)} />
  ),
  'QR code': () => <QrCode text="mesh-invite-example" label="The invite" />,
  Notes,
  Rows: () => <Rows {...TABLE} rows={TABLE.rows.slice(0, 4)} />,
  'Rows of any number': () => (
    <div className="tall">
      <VirtualRows {...TABLE} />
    </div>
  ),
  Dialogs,
  Panel: () => (
    <div className="held">
      <SidePanel to="/machines" label="nas">
        <PanelSection title="Facts">
          <Facts
            facts={[
              ['Address', '10.1.0.2'],
              ['Version', '0.1.0'],
            ]}
          />
        </PanelSection>
      </SidePanel>
    </div>
  ),
}

const MACHINE = {
  id: ID,
  name: 'nas',
  named: true,
  addresses: [],
  os: 'linux',
  arch: 'amd64',
  version: '0.1.0',
  peer: undefined,
}
