import type { PeerId } from '@mesh/core'
import { type Engine, type EngineEvent } from '../src/engine.ts'

/**
 * Moves frames between engines of one process. Give each engine `onEvent: wire.from(peer)`, and then
 * `wire.add(peer, engine)`, under the id by which the others know it.
 */
export interface EngineWire {
  from(peer: PeerId): (event: EngineEvent) => void
  add(peer: PeerId, engine: Engine): void
}

/** @param seen gets every event that moves no frames, with the id of the engine it came from */
export function createEngineWire(seen: (peer: PeerId, event: EngineEvent) => void = () => {}): EngineWire {
  const engines = new Map<PeerId, Engine>()
  return {
    from: (self) => (event) => {
      if (event.type === 'writable' || event.type === 'datagrams' || event.type === 'guestSession') return
      if (event.type !== 'readable') return seen(self, event)
      const [engine, other] = [engines.get(self), engines.get(event.peer)]
      for (let batch = engine?.take(event.peer); batch !== undefined; batch = engine?.take(event.peer))
        other?.inject(self, batch)
    },
    add: (peer, engine) => void engines.set(peer, engine),
  }
}
