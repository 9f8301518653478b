/** Keeps the packet filter at the rules in force. */
import type { AccessRules, PacketRules } from '@mesh/trust/rules'

/** A VPN whose packets pass rules. */
export interface RuledVpn {
  /** Puts rules into force in the place of all before; undefined: everything passes. */
  setRules(rules: PacketRules | undefined): void
}

/** Applies the rules at once, and after each change; the returned function ends it. */
export function followPacketRules(
  rules: AccessRules,
  apply: (packetRules: PacketRules | undefined) => void,
): () => void {
  const tell = () => apply(rules.packetRules()?.rules)
  tell()
  return rules.onChange(tell)
}
