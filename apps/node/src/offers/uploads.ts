/**
 * Files that are put on this node over the API, piece by piece, each in a folder of its own below the node's folder.
 * A file that is not whole stays for a day, so that its sender may go on.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open, rename, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { MAX_UPLOAD_BYTES, type UploadView } from '@mesh/api-contract'
import type { UploadPiece } from '@mesh/api-server'
import { MeshError } from '@mesh/core'
import { Scope } from '@mesh/core/limits'

/** Bytes that stay free on the disk. */
const SPARE_BYTES = 1024 ** 3
/** Pieces that are written at the same time. */
const WRITING = { all: 8 } as const
/** How long a part of a file stays that nobody goes on with, in ms. */
const PART_LIFE_MS = 86_400_000
/** The longest name of a file on common file systems, in bytes. */
const MAX_FILE_NAME_BYTES = 240
const PART = '.part'

export class Uploads {
  readonly #folder: string
  readonly #offer: (name: string, path: string) => Promise<void>
  readonly #places = new Scope(WRITING)
  readonly #writing = new Set<string>()

  /** @param folder of uploads, made when the first comes. @param offer offers a file that is whole */
  constructor(folder: string, offer: (name: string, path: string) => Promise<void>) {
    this.#folder = folder
    this.#offer = offer
  }

  /** @throws MeshError `services.bad_name`, `files.too_large`, `files.wrong_piece`, `files.no_space`, `files.too_many` */
  async take(piece: UploadPiece): Promise<UploadView> {
    const { name, totalBytes } = piece
    checkFileName(name)
    if (totalBytes > MAX_UPLOAD_BYTES) {
      throw new MeshError('files.too_large', `${totalBytes} bytes are more than ${MAX_UPLOAD_BYTES}`)
    }
    const place = this.#places.reserve({})
    if (place === undefined || this.#writing.has(name)) {
      place?.release()
      throw new MeshError('files.too_many', 'another piece is being written')
    }
    this.#writing.add(name)
    try {
      return await this.#write(piece)
    } finally {
      this.#writing.delete(name)
      place.release()
    }
  }

  /** Removes the copy of a file that was put here; paths of elsewhere are left alone. */
  forget(path: string): void {
    if (this.#holds(path)) rmSync(dirname(path), { recursive: true, force: true })
  }

  /** Removes what nobody offers any more, and parts that nobody goes on with. */
  sweep(offered: readonly string[], now: number): void {
    const kept = new Set(offered.filter((path) => this.#holds(path)).map(dirname))
    for (const name of listFolder(this.#folder)) {
      const folder = join(this.#folder, name)
      const isRecent = now - statSync(folder).mtimeMs < PART_LIFE_MS
      if (!kept.has(folder) && !isRecent) rmSync(folder, { recursive: true, force: true })
    }
  }

  #holds(path: string): boolean {
    return dirname(dirname(path)) === this.#folder
  }

  async #write({ name, bytes, from, totalBytes }: UploadPiece): Promise<UploadView> {
    const folder = join(this.#folder, createHash('sha256').update(name).digest('hex').slice(0, 20))
    const part = join(folder, `${name}${PART}`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const size = from + bytes.length
    checkPlace({ from, size, totalBytes, has: from === 0 ? 0 : sizeOf(part) })
    if (from === 0) await requireSpace(folder, totalBytes)
    const file = await open(part, from === 0 ? 'w' : 'r+', 0o600)
    try {
      await file.write(bytes, 0, bytes.length, from)
    } catch (cause) {
      throw isFull(cause) ? new MeshError('files.no_space', 'the disk is full', { cause }) : cause
    } finally {
      await file.close()
    }
    if (size < totalBytes) return { Name: name, State: 'receiving', Bytes: size, TotalBytes: totalBytes }
    const path = join(folder, name)
    await rename(part, path)
    await this.#offer(name, path)
    return { Name: name, State: 'offered', Bytes: size, TotalBytes: totalBytes }
  }
}

/** Its receivers write it under this name. @throws MeshError `services.bad_name` */
function checkFileName(name: string): void {
  const isRight = basename(name) === name && !['.', '..'].includes(name) && !/[\\\p{Cc}]/u.test(name)
  if (isRight && Buffer.byteLength(name) <= MAX_FILE_NAME_BYTES) return
  throw new MeshError(
    'services.bad_name',
    `${JSON.stringify(name.slice(0, 50))} cannot be the name of a file`,
    {
      hint: `A name has at most ${MAX_FILE_NAME_BYTES} bytes, and no slash, backslash or control character.`,
    },
  )
}

interface PlaceOfPiece {
  readonly from: number
  readonly size: number
  readonly totalBytes: number
  /** The bytes that came before. */
  readonly has: number
}

/** @throws MeshError `files.wrong_piece` */
function checkPlace({ from, size, totalBytes, has }: PlaceOfPiece): void {
  if (from === has && size <= totalBytes) return
  throw new MeshError(
    'files.wrong_piece',
    `the file has ${has} bytes here, and the piece begins at ${from}`,
    {
      issues: [{ field: 'from', value: String(from), expected: String(has) }],
    },
  )
}

/** @throws MeshError `files.no_space` */
async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize - SPARE_BYTES >= bytes) return
  throw new MeshError('files.no_space', `${bytes} bytes do not fit: ${SPARE_BYTES} stay free`)
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
