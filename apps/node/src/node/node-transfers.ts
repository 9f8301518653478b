/** Tells the API of the files that this node fetches: a command which does so runs a node for it. */
import type { ReceivingTransfer } from '@mesh/api-server'
import type { ReceivedFile, ReceiveFileInit, ReceiveState } from '@mesh/services'

export interface NodeTransfers {
  /** Fetches, and lists it until it ends. */
  receive(init: ReceiveFileInit): Promise<ReceivedFile>
  list(): readonly ReceivingTransfer[]
}

export function createNodeTransfers(fetch: NodeTransfers['receive']): NodeTransfers {
  const states = new Map<ReceiveFileInit, ReceiveState>()
  return {
    async receive(init) {
      states.set(init, { type: 'waiting' })
      const onState = (state: ReceiveState) => {
        states.set(init, state)
        init.onState?.(state)
      }
      try {
        return await fetch({ ...init, onState })
      } finally {
        states.delete(init)
      }
    },
    list: () => [...states].map(([{ name, destination }, state]) => transferOf(name, destination, state)),
  }
}

function transferOf(name: string, destination: string, state: ReceiveState): ReceivingTransfer {
  const moved = state.type === 'receiving' ? state : undefined
  return {
    name,
    destination,
    state: state.type,
    provider: 'provider' in state ? state.provider : undefined,
    path: moved?.path,
    transport: moved?.transport,
    bytes: moved?.bytes ?? 0,
    totalBytes: moved?.totalBytes,
    rate: moved?.rate ?? 0,
    lastError: state.type === 'retrying' ? state.reason : undefined,
  }
}
