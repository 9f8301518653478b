/** Attacks on how nodes find out whom they may trust. */
import { randomBytes } from 'node:crypto'
import { generateEcdsaKey } from '@mesh/trust/node'
import { dialTarget, overAndOver, sendAll } from '../attackers.ts'
import { createAuthor, createSealing, gossipFrame, openGossip, signEntry, signMessage } from '../gossip.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { createMember, openVoice, sayEntries, untilHeld } from '../voice.ts'

/** As many public keys as a challenge is tried with. */
const KEYS = 16
const AUTH = 'trustzoneAuth'

/** Writes public keys, each of which a challenge may have been signed with. */
async function writeKeys(attack: Attack): Promise<void> {
  const { seed, signer } = createMember()
  const entries = Array.from({ length: KEYS }, (_, at) =>
    signEntry(signer, [AUTH, `ecdsa_${at}`, generateEcdsaKey().publicKey]),
  )
  await sayEntries(await openVoice(attack), seed, entries)
  await untilHeld(attack, AUTH, `ecdsa_${KEYS - 1}`)
}

/** A signature that no key made, as legacy nodes write it: PEM of two numbers, in base64. */
function someSignature(): string {
  const number = () => Buffer.concat([Uint8Array.of(2, 65, 1), randomBytes(64)])
  const der = Buffer.concat([Uint8Array.of(0x30, 0x81, 134), number(), number()])
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  const pem = `-----BEGIN SIGNATURE-----\n${lines.join('\n')}\n-----END SIGNATURE-----\n`
  return Buffer.from(pem).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}

export const TRUST_ATTACKS: readonly Scenario[] = [
  {
    name: 'challenges',
    who: 'member',
    does: `challenges on the public topic under fresh authors, with signatures that none of ${KEYS} keys made`,
    boundedBy: 'LEGACY_CHALLENGES, the loop budget, PUBLIC_MESSAGES',
    legacy: { flags: ['--peerguard'] },
    aim: 'challenges',
    needs: ['--peerguard'],
    prepare: writeKeys,
    async run(attack) {
      const { config, signal, target, tally } = attack
      const sealing = createSealing(config)
      await overAndOver(attack, async () => {
        const connection = await dialTarget(await attack.peer(), target, signal)
        const topic = sealing.publicTopic()
        const stream = await openGossip(connection, [topic], signal)
        while (!signal.aborted && stream.status === 'open') {
          const sealed = sealing.seal(Buffer.from('challenge'))
          const envelope = { Message: sealed, SenderID: '', Annotations: { sigs: someSignature() } }
          const data = Buffer.from(JSON.stringify(envelope))
          const message = await signMessage(createAuthor().seed, topic, data)
          if (await sendAll(stream, gossipFrame({ messages: [message] }), signal)) tally.count('challenges')
          await pause(50, signal)
        }
      })
    },
  },
]
