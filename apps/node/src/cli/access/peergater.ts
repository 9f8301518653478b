/** `mesh peergater ecdsa-genkey`: a key pair as EdgeVPN-compatible nodes take it. */
import { printableJson } from '../../words/printable.ts'
import type { Run } from '../command.ts'

export const runGenerateKey: Run = async ({ settings, out }) => {
  const { generateEcdsaKey } = await import('@mesh/trust/node')
  const { privateKey, publicKey } = generateEcdsaKey()
  if (settings.json) {
    const both = settings.privkey === settings.pubkey
    out(
      printableJson(
        {
          ...((both || settings.privkey) && { PrivateKey: privateKey }),
          ...((both || settings.pubkey) && { PublicKey: publicKey }),
        },
        2,
      ),
    )
  } else if (settings.privkey) out(privateKey)
  else if (settings.pubkey) out(publicKey)
  else out(`Private key: ${privateKey}\nPublic key: ${publicKey}\n`)
  return 0
}
