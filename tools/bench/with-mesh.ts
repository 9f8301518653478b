import { createMesh, type Mesh } from '../../apps/node/test/harness.ts'

/**
 * Runs a measure with a mesh of its own. What the measure adds to `ends` is ended after it, the newest first, whether it
 * succeeded or not.
 */
export async function withMesh<T>(measure: (mesh: Mesh, ends: (() => unknown)[]) => Promise<T>): Promise<T> {
  const mesh = createMesh()
  const ends: (() => unknown)[] = [() => mesh.cleanUp()]
  try {
    return await measure(mesh, ends)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}
