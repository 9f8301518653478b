/**
 * Who this node is: an Ed25519 key. The file has libp2p's form of a private key, as legacy nodes keep it
 * (docs/WIRE.md 0): `08 01 12 40`, 32 bytes of seed, 32 bytes of public key; mode 0600.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Logger, MeshError, type PeerId, peerIdFromPublicKey, type Random } from '@mesh/core'
import { shellWord } from '../words/shell-word.ts'
import { currentUser, isForeign } from '../files/file-owners.ts'
import { readStateBytes } from '../files/read-state-file.ts'

export interface Identity {
  readonly id: PeerId
  /** 32 bytes; anyone who has them is this node. */
  readonly seed: Uint8Array
  /** The public key, 32 bytes. */
  readonly publicKey: Uint8Array
}

const FILE_PREFIX = Uint8Array.of(0x08, 0x01, 0x12, 0x40)
const SEED_BYTES = 32
const FILE_BYTES = FILE_PREFIX.length + 2 * SEED_BYTES
/** DER of an Ed25519 private key in PKCS #8; the seed follows (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Reads the folder's identity, or makes one and keeps it. @throws MeshError `node.bad_identity` */
export function openIdentity(folder: string, random: Random, log: Logger): Identity {
  return openKeyFile(identityPath(folder), random, log)
}

export function identityPath(folder: string): string {
  return join(folder, 'identity')
}

/** Reads a key of the same form from a file, or makes one and keeps it there. @throws MeshError `node.bad_identity` */
export function openKeyFile(file: string, random: Random, log: Logger): Identity {
  return readKeyFile(file, log) ?? keepIdentity(file, createIdentity(random), log)
}

export function createIdentity(random: Random): Identity {
  return identityFromSeed(random.bytes(SEED_BYTES))
}

function identityFromSeed(seed: Uint8Array): Identity {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '', 'base64url')
  return { id: peerIdFromPublicKey(publicKey), seed, publicKey }
}

/** Undefined when there is no such file. @throws MeshError `node.bad_identity` */
export function readKeyFile(file: string, log: Logger): Identity | undefined {
  let bytes: Uint8Array
  try {
    bytes = readStateBytes(file, { followsLinks: false })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP') {
      throw new MeshError(
        'node.bad_identity',
        `the identity ${file} is a symbolic link, which is not followed`,
        {
          hint: 'Put the file itself there, owned by the user that the node runs as.',
        },
      )
    }
    throw new MeshError('node.bad_identity', `cannot read the identity ${file}`, {
      cause,
      hint: 'It has to be a file that the user the node runs as may read. Put it right, restore it from a copy, or remove it: the node then gets a new name.',
    })
  }
  const identity = decodeIdentity(bytes)
  if (identity === undefined) {
    throw new MeshError('node.bad_identity', `the identity ${file} is damaged`, {
      hint: 'Restore it from a copy, or remove it: the node then gets a new name, and its old keys are free when their lease ends.',
    })
  }
  const stat = statSync(file)
  const user = currentUser()
  if (user !== undefined && isForeign(stat, user)) {
    log.warn('the identity belongs to another user of this machine, who can read and change it', {
      file,
      uid: stat.uid,
      hint: `chown ${user.uid} ${shellWord(file)}`,
    })
  }
  if ((stat.mode & 0o077) !== 0) {
    closeToOthers(file, log)
  }
  return identity
}

function closeToOthers(file: string, log: Logger): void {
  try {
    chmodSync(file, 0o600)
    log.warn('the identity could be read by other users of this machine; its mode is 0600 now', { file })
  } catch (error) {
    // it is another user's
    const hint = `chmod 600 ${shellWord(file)}`
    log.warn('the identity can be read by other users of this machine', { file, error, hint })
  }
}

function decodeIdentity(bytes: Uint8Array): Identity | undefined {
  if (bytes.length !== FILE_BYTES || !FILE_PREFIX.every((byte, at) => bytes[at] === byte)) return undefined
  const seedEnd = FILE_PREFIX.length + SEED_BYTES
  const identity = identityFromSeed(Uint8Array.from(bytes.subarray(FILE_PREFIX.length, seedEnd)))
  return Buffer.from(identity.publicKey).equals(bytes.subarray(seedEnd)) ? identity : undefined
}

export function encodeIdentity(identity: Identity): Uint8Array {
  return Buffer.concat([FILE_PREFIX, identity.seed, identity.publicKey])
}

/** Whole or not at all, even when the power fails; never over an identity that stands. */
function keepIdentity(file: string, identity: Identity, log: Logger): Identity {
  const draft = `${file}.${process.pid}`
  try {
    const descriptor = openSync(draft, 'wx', 0o600)
    try {
      writeSync(descriptor, encodeIdentity(identity))
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    linkSync(draft, file)
  } catch (cause) {
    throw new MeshError('node.bad_identity', `cannot keep the identity in ${file}`, { cause })
  } finally {
    rmSync(draft, { force: true })
  }
  log.debug('made a new identity', { id: identity.id, file })
  return identity
}
