/**
 * Tells this machine's resolver of the node in /etc/resolv.conf: before the servers that stood there, which answer when
 * the node does not. What stood there is kept in the state folder, so that it can be taken back.
 */
import { lstatSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { HealthProblem } from '@mesh/api-server'
import { toError } from '@mesh/core'
import { readIfThere } from '../files/replace-file.ts'
import { thisProcess } from '../state/process-record.ts'
import { writeStateFile } from '../state/state-file.ts'
import { notConfigured, type ResolverWay } from './keep-resolver.ts'
import { isMarked, withNameServer } from './resolv-conf.ts'
import { recordPath, RESOLV_CONF, type SavedResolver } from './restore-resolver.ts'
import { watchFiles } from './system-servers.ts'

export class ResolvConfWay implements ResolverWay {
  readonly by = RESOLV_CONF
  readonly #stateDir: string
  readonly #address: string
  #saved: SavedResolver | undefined

  /** @param address of the node's DNS server, at port 53 */
  constructor(stateDir: string, address: string) {
    this.#stateDir = stateDir
    this.#address = address
  }

  apply(): HealthProblem | undefined {
    try {
      this.#saved = this.#save()
      writeResolvConf(this.#saved)
      return undefined
    } catch (error) {
      return notConfigured(toError(error).message)
    }
  }

  isInPlace(): boolean {
    const text = textOf(RESOLV_CONF)
    return text === undefined || text === this.#saved?.written
  }

  watch(onChange: () => void): () => void {
    let unwatch = () => {}
    const watch = () => {
      unwatch()
      const link = this.#saved?.link
      const paths = link === undefined ? [RESOLV_CONF] : [RESOLV_CONF, targetOf(link)]
      unwatch = watchFiles(paths, () => {
        this.#follow()
        if (this.#saved?.link !== link) watch()
        onChange()
      })
    }
    watch()
    return () => unwatch()
  }

  /** The program that the file was a link of has other servers now: they stand behind this node's. */
  #follow(): void {
    if (textOf(RESOLV_CONF) === this.#saved?.written && this.#isTargetChanged()) this.apply()
  }

  #isTargetChanged(): boolean {
    const { link, text } = this.#saved ?? {}
    const now = link === undefined ? undefined : textOf(targetOf(link))
    return now !== undefined && now !== text
  }

  /** Written down before anything is changed. */
  #save(): SavedResolver {
    const before = this.#saved
    const found = textOf(RESOLV_CONF)
    if (found === undefined) throw new Error(`${RESOLV_CONF} cannot be read`)
    const isOurs = isMarked(found)
    if (isOurs && before === undefined)
      throw new Error(`another node of mesh has configured ${RESOLV_CONF} already`)
    const link = isOurs ? before?.link : linkOf(RESOLV_CONF)
    // a program that put an earlier copy of the file back brought no servers of its own
    const kept = link === undefined ? undefined : textOf(targetOf(link))
    const text = isOurs ? (kept ?? before?.text ?? '') : found
    const saved = { ...thisProcess(), link, text, written: withNameServer(text, this.#address) }
    writeStateFile(recordPath(this.#stateDir), saved)
    return saved
  }
}

/** Writes the file in place where it cannot be replaced: containers mount it. */
function writeResolvConf({ written }: SavedResolver): void {
  if (linkOf(RESOLV_CONF) !== undefined) rmSync(RESOLV_CONF)
  writeFileSync(RESOLV_CONF, written)
}

/** Empty where there is no such file, as before the network is there; undefined where it cannot be read. */
function textOf(path: string): string | undefined {
  try {
    return readIfThere(path) ?? ''
  } catch {
    return undefined
  }
}

function linkOf(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? readlinkSync(path)
    : undefined
}

function targetOf(link: string): string {
  return resolve(dirname(RESOLV_CONF), link)
}
