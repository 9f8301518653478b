/**
 * Keys and signatures as legacy nodes write them (docs/WIRE.md 6.3): base64url, with padding, of PEM. Whatever a text
 * holds, reading it gives undefined at worst.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { MAX_KEY_TEXT_LENGTH } from '../limits.ts'

/** A pair of texts: who holds `privateKey` is let in where `publicKey` stands in the bucket `trustzoneAuth`. */
export interface EcdsaKeyTexts {
  readonly privateKey: string
  readonly publicKey: string
}

/** Makes a new P-521 key pair. */
export function generateEcdsaKey(): EcdsaKeyTexts {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  return {
    privateKey: encodePem('EC PRIVATE KEY', pair.privateKey.export({ format: 'der', type: 'sec1' })),
    publicKey: encodePem('EC PUBLIC KEY', pair.publicKey.export({ format: 'der', type: 'spki' })),
  }
}

export function tryParsePrivateKey(text: string): KeyObject | undefined {
  return tryParse(text, (key) => createPrivateKey({ key, format: 'der', type: 'sec1' }))
}

export function tryParsePublicKey(text: string): KeyObject | undefined {
  return tryParse(text, (key) => createPublicKey({ key, format: 'der', type: 'spki' }))
}

/** The public key of a private one, as it is written into `trustzoneAuth`. */
export function publicKeyText(key: KeyObject): string {
  return encodePem('EC PUBLIC KEY', createPublicKey(key).export({ format: 'der', type: 'spki' }))
}

function tryParse(text: string, parse: (der: Buffer) => KeyObject): KeyObject | undefined {
  const der = decodePem(text)
  if (der === undefined) return undefined
  try {
    const key = parse(der)
    return key.asymmetricKeyDetails?.namedCurve === 'secp521r1' ? key : undefined
  } catch {
    return undefined
  }
}

/** Writes PEM as Go does, and base64url with padding around it. */
export function encodePem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  const pem = `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
  return Buffer.from(pem).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}

/** Gives the DER bytes; the label is not looked at, as legacy nodes do not. */
export function decodePem(text: string): Buffer | undefined {
  if (text.length > MAX_KEY_TEXT_LENGTH || !/^[A-Za-z0-9_\-\r\n]+={0,2}[\r\n]*$/.test(text)) return undefined
  const pem = Buffer.from(text, 'base64url').toString('latin1')
  const found = /-----BEGIN ([A-Z ]*)-----\s+([A-Za-z0-9+/=\s]*)-----END \1-----/.exec(pem)
  const body = found?.[2]?.replaceAll(/\s/g, '') ?? ''
  return body === '' ? undefined : Buffer.from(body, 'base64')
}
