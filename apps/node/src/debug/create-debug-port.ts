/** The profiles of this process, for `/debug/pprof/`; what each needs is loaded when it is first asked for. */
import type { DebugPort } from '@mesh/api-server'
import type { Clock } from '@mesh/core'
import { commandWords } from './command-words.ts'
import { startHeapSampling } from './heap-profile.ts'

const BINARY = 'application/octet-stream'
const TEXT = 'text/plain; charset=utf-8'

/** Begins to sample the heap, so that a profile of it can tell where what is alive was made. */
export async function createDebugPort(clock: Clock): Promise<DebugPort> {
  const heap = await startHeapSampling(clock)
  return {
    profiles: [
      { name: 'profile', summary: 'What the processor did, for `go tool pprof`.', defaultSeconds: 30 },
      {
        name: 'heap',
        summary: 'What is on the heap, for `go tool pprof`; with ?gc=1 after collecting garbage.',
        defaultSeconds: undefined,
      },
      {
        name: 'goroutine',
        summary: 'What the node waits for: stacks, handles and the delay of the event loop, as text.',
        defaultSeconds: 1,
      },
      { name: 'trace', summary: 'Events of Node and V8, for ui.perfetto.dev.', defaultSeconds: 1 },
      { name: 'cmdline', summary: 'How the node was started, secrets masked.', defaultSeconds: undefined },
    ],
    async take({ name, seconds, collectsGarbage }, signal) {
      switch (name) {
        case 'profile': {
          const { takeCpuProfile } = await import('./cpu-profile.ts')
          const body = await takeCpuProfile(seconds, clock, signal)
          return { body, type: BINARY, fileName: 'profile.pb.gz' }
        }
        case 'heap':
          return { body: await heap.take({ collectsGarbage }), type: BINARY, fileName: 'heap.pb.gz' }
        case 'goroutine': {
          const { describePendingWork } = await import('./pending-work.ts')
          return { body: await describePendingWork(seconds, clock, signal), type: TEXT }
        }
        case 'trace': {
          const { takeTrace } = await import('./trace.ts')
          const body = await takeTrace(seconds, clock, signal)
          return { body, type: 'application/json', fileName: 'trace.json' }
        }
        case 'cmdline':
          return { body: commandWords(process.argv), type: TEXT }
        default:
          throw new Error(`there is no profile ${name}`)
      }
    },
  }
}
