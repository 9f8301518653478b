/** `dist/mesh-container-ARCH.tar`: the image of packaging/container, as `podman load` and `docker load` read it. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './commands.mjs'

/** How `build.sh` ends where the machine cannot build images. */
const SKIPPED = 77

/** Needs the part `binary`.  @returns the names of the files that it made in `dist`: none where the machine cannot build images */
export function packageContainer(dist, { arch }) {
  const name = `mesh-container-${arch}.tar`
  // the base is of this machine's architecture
  if (arch !== process.arch) return skipped(`an image for ${arch} is built on such a machine`)
  const script = join(root, 'packaging/container/build.sh')
  const words = [join(dist, `mesh-linux-${arch}`), join(dist, name)]
  const { status, stdout } = spawnSync(script, words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status === SKIPPED) return skipped(stdout.trim().replace('skipped: ', ''))
  if (status !== 0) throw new Error(`${script} failed: its lines above say why`)
  return [name]
}

function skipped(reason) {
  console.log(`  skipped: ${reason}`)
  return []
}
