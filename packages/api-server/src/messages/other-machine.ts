import { addressGroup, isLoopback } from '@mesh/core'

/** The other machine behind an address, as its group of addresses; undefined for this machine, whose programs share it. */
export function otherMachineOf(address = ''): string | undefined {
  return address === '' || isLoopback(address) ? undefined : addressGroup(address)
}
