/**
 * Leaves parts of libraries out of the bundle that this application never calls and that would be loaded at every start;
 * each throws when it is called after all. README.md says what each brings. One library reads its own version from a
 * file, which a bundle does not have: it gets the version itself.
 */
import { readFileSync } from 'node:fs'
import type { Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

const unused = (name: string) => `() => { throw new Error('${name} is left out of this build') }`

interface Stub {
  readonly filter: RegExp
  readonly contents: string
}

const STUBS: readonly Stub[] = [
  {
    // a node seals with Node's own cipher; this one computes its tables at every start
    filter: /^@noble\/ciphers\/aes\.js$/,
    contents: `module.exports = { gcm: ${unused('noble AES')} }`,
  },
  {
    // bodies are read by api-server itself, with bounds; this brings 480 kB of character tables
    filter: /^body-parser$/,
    contents: `module.exports = { json: ${unused('body-parser')}, raw: ${unused('body-parser')}, text: ${unused('body-parser')}, urlencoded: ${unused('body-parser')} }`,
  },
  {
    // Express parses queries with it when told to, and we do not; its helpers read every built-in object
    filter: /^qs$/,
    contents: `module.exports = { parse: ${unused('qs')} }`,
  },
  {
    // 2,500 types of files, indexed at every start, of which an API needs these
    filter: /^mime-db$/,
    contents: `module.exports = ${JSON.stringify({
      'application/json': { source: 'iana', charset: 'UTF-8', extensions: ['json'] },
      'text/event-stream': { source: 'iana' },
      'text/html': { source: 'iana', extensions: ['html'] },
      'text/plain': { source: 'iana', extensions: ['txt'] },
    })}`,
  },
]

/** Reads its own version from a file that a bundle does not have. */
const READS_PACKAGE = /@achingbrain[\\/]ssdp[\\/]dist[\\/]src[\\/]ssdp\.js$/
const READ = /^const req = createRequire\(import\.meta\.url\);\nconst (\{.*\}) = req\('(.*)'\);$/m

export const stubs: Plugin = {
  name: 'stubs',
  setup(build) {
    for (const { filter, contents } of STUBS) {
      build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'stub', pluginData: contents }))
    }
    build.onLoad({ filter: /.*/, namespace: 'stub' }, ({ pluginData }) => ({
      contents: pluginData as string,
    }))
    build.onLoad({ filter: READS_PACKAGE, namespace: 'file' }, ({ path }) => {
      const contents = readFileSync(path, 'utf8').replace(READ, "import $1 from '$2'")
      if (!/^import \{.*package\.json'$/m.test(contents)) throw new Error(`${path} is not what it was`)
      return { contents }
    })
  },
}
