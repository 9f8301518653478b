import type { NodeDownloadView } from '@mesh/api-contract'
import { printable } from '@mesh/core'
import { useMachines } from '../../data/machines.tsx'
import type { OffersRead } from '../../data/offers-read.ts'
import { receiveCommand } from '../../model/commands.ts'
import { downloadState, isUnderWay } from '../../model/download-words.ts'
import { nameOf } from '../../model/machine.ts'
import { bytesInWords, countInWords } from '../../model/rate-words.ts'
import { shownText } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Facts, PanelSection } from '../../parts/panel.tsx'
import { SidePanel } from '../side-panel.tsx'
import { EndDownload } from './end-download.tsx'
import { MissingOffer } from './missing-offer.tsx'
import css from './offers.module.css'
import { errorFact, type Fact, StateAndSentence } from './service-panels.tsx'
import { TransferProgress } from './transfer-progress.tsx'

/** One file or folder of a member that this node fetches, or fetched. */
export function DownloadPanel({ name, read }: { name: string; read: OffersRead<NodeDownloadView> }) {
  const download = read.offers?.find(({ Name }) => Name === name)
  return (
    <SidePanel to="/files" label={name}>
      {download === undefined ? (
        <MissingOffer
          read={read}
          what="This node fetches nothing of this name"
          why="It may have been ended, or the node was started anew."
        />
      ) : (
        <DownloadFacts download={download} />
      )}
    </SidePanel>
  )
}

function DownloadFacts({ download }: { download: NodeDownloadView }) {
  const { machines } = useMachines()
  const { State, Name, Destination } = download
  const isComing = State === 'receiving'
  return (
    <>
      <StateAndSentence {...downloadState(download, (id) => nameOf(machines ?? [], id))} />
      {isComing && (
        <PanelSection title="Progress">
          <div className={css.transfer}>
            <TransferProgress label={`Received of ${printable(Name)}`} progress={download} way={download} />
          </div>
        </PanelSection>
      )}
      <PanelSection title="File or folder">
        <Facts facts={factsOf(download, (id) => nameOf(machines ?? [], id))} />
      </PanelSection>
      {State === 'failed' && (
        <PanelSection title="Go on with it by">
          <Copy text={receiveCommand(Name, Destination)} what="command" mono wrap />
        </PanelSection>
      )}
      <EndDownload download={download} isUnderWay={isUnderWay(download)} />
    </>
  )
}

function factsOf(download: NodeDownloadView, name: (id: string) => string): readonly Fact[] {
  const { Provider, Files, WrittenTo, Destination, LastError, Hint, State, Bytes } = download
  const facts: Fact[] = []
  if (Provider !== null) {
    facts.push([
      'Sender',
      <span key="sender" className={css.member}>
        <Glyph id={Provider} />
        {name(Provider)}
      </span>,
    ])
  }
  const place = WrittenTo ?? Destination
  facts.push([
    WrittenTo === null ? 'Goes to' : 'Stands at',
    <Copy key="place" text={place} what="path" mono wrap />,
  ])
  if (Files !== null) facts.push(['Files', countInWords(Files)])
  if (State !== 'receiving' && Bytes > 0) facts.push(['Size', bytesInWords(Bytes)])
  if (LastError !== null) facts.push(errorFact(LastError))
  if (Hint !== null) facts.push(['What to do', shownText(Hint)])
  return facts
}
