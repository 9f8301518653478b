/** Keeps the packet filter at the rules in force. */
import type { AccessRules, PacketRules } from '@mesh/trust/rules'

/** Applies the rules at once, and after each change; the returned function ends it. */
export function followPacketRules(
  rules: AccessRules,
  apply: (packetRules: PacketRules | undefined) => void,
): () => void {
  const tell = () => apply(rules.packetRules()?.rules)
  tell()
  return rules.onChange(tell)
}
