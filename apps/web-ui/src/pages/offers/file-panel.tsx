import type { NodeFileView } from '@mesh/api-contract'
import { printable } from '@mesh/core'
import { useMachines } from '../../data/machines.tsx'
import type { OffersRead } from '../../data/offers-read.ts'
import { receiveCommand } from '../../model/commands.ts'
import { nameOf } from '../../model/machine.ts'
import { fileState } from '../../model/offer-words.ts'
import { countInWords } from '../../model/rate-words.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Facts, PanelSection } from '../../parts/panel.tsx'
import { MissingOffer } from './missing-offer.tsx'
import css from './offers.module.css'
import { SidePanel } from '../side-panel.tsx'
import { errorFact, keptFact, StateAndSentence } from './service-panels.tsx'
import { TransferProgress } from './transfer-progress.tsx'
import { Withdraw } from './withdraw.tsx'

/** One file or folder that this node offers. */
export function FilePanel({ name, read }: { name: string; read: OffersRead<NodeFileView> }) {
  const file = read.offers?.find(({ Name }) => Name === name)
  return (
    <SidePanel to="/files" label={name}>
      {file === undefined ? (
        <MissingOffer read={read} what="This node offers no file of this name" />
      ) : (
        <FileFacts file={file} />
      )}
    </SidePanel>
  )
}

function FileFacts({ file }: { file: NodeFileView }) {
  const { machines } = useMachines()
  const name = (id: string) => nameOf(machines ?? [], id)
  const receivers = [...new Set(file.Receivers.map(({ PeerID }) => name(PeerID)))]
  return (
    <>
      <StateAndSentence {...fileState(file, name)} />
      <PanelSection title="File or folder">
        <Facts
          facts={[
            ['Path', <Copy key="path" text={file.Path} what="path" mono wrap />],
            ['Completed', `${countInWords(file.Completed)} since the node started`],
            keptFact(file.Kept),
            ...(file.LastError === null ? [] : [errorFact(file.LastError)]),
          ]}
        />
      </PanelSection>
      <PanelSection title="Receiving now">
        {file.Receivers.length === 0 && <p className={css.hint}>Nobody.</p>}
        <ul className={css.transfers}>
          {file.Receivers.map((receiver, at) => (
            <Receiver key={`${receiver.PeerID} ${at}`} receiver={receiver} name={name(receiver.PeerID)} />
          ))}
        </ul>
      </PanelSection>
      <PanelSection title="Members fetch it with">
        <Copy text={receiveCommand(file.Name)} what="command" mono wrap />
      </PanelSection>
      <Withdraw
        kind="file"
        name={file.Name}
        action="Withdraw"
        affected={
          receivers.length === 0
            ? 'No member receives it now.'
            : `${receivers.join(', ')} ${receivers.length === 1 ? 'receives' : 'receive'} it now and must wait until it is offered again.`
        }
        afterwards={`The file itself stays at ${printable(file.Path)}.`}
      />
    </>
  )
}

function Receiver({ receiver, name }: { receiver: NodeFileView['Receivers'][number]; name: string }) {
  return (
    <li className={css.transfer}>
      <span className={css.member}>
        <Glyph id={receiver.PeerID} />
        {name}
      </span>
      <TransferProgress label={`Sent to ${name}`} progress={receiver} way={receiver} />
    </li>
  )
}
