/** What the fuzz suite knows of a decoder: real messages, and how it is called. */

/** How the bytes of a message are built, for mutations that keep it nearly right. */
export type MessageForm = 'protobuf' | 'json' | 'text' | 'bytes'

export interface Decoder {
  readonly name: string
  readonly form: MessageForm
  /** Real messages, at least one. */
  readonly seeds: readonly Uint8Array[]
  /**
   * True for functions whose declared refusal is a MeshError; the others may throw nothing at all, whatever a remote
   * sends.
   */
  readonly mayRefuse?: true
  /** Decodes, and uses what came as the node does. Throws where what came out breaks a promise of the decoder. */
  decode(bytes: Uint8Array): unknown
  /** Ends what the decoder needs, such as a server. */
  stop?(): Promise<void>
}

/** Ends what the decoders opened. */
export async function stopDecoders(decoders: readonly Decoder[]): Promise<void> {
  for (const decoder of decoders) await decoder.stop?.()
}

/** The bytes of a text in UTF-8. */
export function textSeeds(...texts: readonly string[]): readonly Uint8Array[] {
  return texts.map((text) => Buffer.from(text))
}

/** The text of bytes as the network gives it: replaced where it is no UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
