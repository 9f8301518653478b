import { MAX_UPLOAD_BYTES } from '@mesh/api-contract'
import { FileUp, Folder } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Link } from '@tanstack/react-router'
import { nodeUrl } from '../../data/node-url.ts'
import { useUploadList, useUploads } from '../../data/uploads-context.tsx'
import { uploadCommands } from '../../model/commands.ts'
import { bytesInWords } from '../../model/rate-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import { CommandList } from '../../parts/command-list.tsx'
import { fieldClasses } from '../../parts/field.tsx'
import page from '../page.module.css'
import css from './uploads.module.css'

/** Stands in the commands until a file was sent. */
const EXAMPLE = 'photo.jpg'

/** Takes files that are dropped anywhere on the page, or chosen with the button, and offers them. */
export function DropZone() {
  const uploads = useUploads()
  const name = useUploadList().at(-1)?.name ?? EXAMPLE
  const [folders, setFolders] = useState<readonly string[]>([])
  const isOver = useDroppedFiles((transfer) => {
    const dropped = readTransfer(transfer)
    setFolders(dropped.folders)
    uploads.add(dropped.files)
  })
  const input = useRef<HTMLInputElement>(null)
  return (
    <section className={css.zone} data-over={isOver || undefined} aria-label="Offer files of this browser">
      <FileUp aria-hidden="true" />
      <p>
        <b>Drop files anywhere on this page</b>
        <span>
          Each has {bytesInWords(MAX_UPLOAD_BYTES)} at most. The node keeps a copy and offers it under the
          name of the file. An offer of the same name is replaced.
        </span>
      </p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to offer"
        onChange={({ currentTarget }) => {
          setFolders([])
          uploads.add([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
      <Button onClick={() => input.current?.click()}>Choose files</Button>
      {folders.map((folder) => (
        <p key={folder} role="alert" className={css.folder}>
          <Folder aria-hidden="true" />
          <span>
            {shownName(folder)} is a folder, and a browser cannot send folders.{' '}
            <Link to="/files" search={{ view: 'offer', name: folder }} className={page.link}>
              Offer its path
            </Link>{' '}
            instead: members then get it straight from its place.
          </span>
        </p>
      ))}
      <details className={cx(fieldClasses.details, css.terminal)}>
        <summary>The same from a terminal</summary>
        <CommandList title="In the folder of the file" commands={uploadCommands(nodeUrl, name)} />
      </details>
      {isOver && (
        <div className={css.cover} aria-hidden="true">
          Drop to offer
        </div>
      )}
    </section>
  )
}

interface Dropped {
  readonly files: readonly File[]
  /** The names of the folders. */
  readonly folders: readonly string[]
}

function readTransfer({ items }: DataTransfer): Dropped {
  const files: File[] = []
  const folders: string[] = []
  for (const each of items) {
    const file = each.getAsFile()
    if (file === null) continue
    if (each.webkitGetAsEntry()?.isDirectory === true) folders.push(file.name)
    else files.push(file)
  }
  return { files, folders }
}

/** Calls back with what is dropped on the window. @returns true while files are held over it */
function useDroppedFiles(onDrop: (transfer: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false)
  const latest = useRef(onDrop)
  useEffect(() => {
    latest.current = onDrop
  })
  useEffect(() => {
    const listening = new AbortController()
    const options = { signal: listening.signal }
    window.addEventListener('dragover', (event) => allowDrop(event, () => setOver(true)), options)
    window.addEventListener(
      'dragleave',
      // the pointer is over no element when it leaves the window
      ({ relatedTarget }) => relatedTarget === null && setOver(false),
      options,
    )
    window.addEventListener(
      'drop',
      (event) => {
        setOver(false)
        allowDrop(event, (transfer) => latest.current(transfer))
      },
      options,
    )
    return () => listening.abort()
  }, [])
  return isOver
}

function allowDrop(event: DragEvent, then: (transfer: DataTransfer) => void): void {
  const transfer = event.dataTransfer
  if (transfer?.types.includes('Files') !== true) return
  event.preventDefault()
  then(transfer)
}
