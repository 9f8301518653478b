/** `dist/mesh_VERSION_ARCH.deb`: the executable, units, completion, manual pages and licences, from packaging/debian. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import { ARCHITECTURES } from './architectures.mjs'
import { commitSeconds, isThere, output, root, show } from './commands.mjs'
import { LICENSES, SBOM } from './sbom.mjs'

const sources = join(root, 'packaging/debian')
const DOCS = 'usr/share/doc/mesh'
const SCRIPTS = ['config', 'postinst', 'prerm', 'postrm']

/** Where each shell looks for the completion of `mesh`. */
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/mesh',
  zsh: 'usr/share/zsh/vendor-completions/_mesh',
  fish: 'usr/share/fish/vendor_completions.d/mesh.fish',
}

/** Needs the parts `binary` and `sbom`.  @returns the names of the files that it made in `dist` */
export function packageDeb(dist, { arch, isLocal }) {
  const { version } = JSON.parse(readFileSync(join(root, 'apps/node/package.json'), 'utf8'))
  const stage = mkdtempSync(join(tmpdir(), 'mesh-deb-'))
  // who made the folder is nobody's business, and others must read what is in it
  chmodSync(stage, 0o755)
  try {
    stageFiles(stage, dist, arch)
    stageDocuments(stage, dist, version)
    stageControl(stage, { version, architecture: ARCHITECTURES[arch].debian })
    const name = `mesh_${version}_${ARCHITECTURES[arch].debian}.deb`
    // tests need no small file
    const compression = isLocal ? ['-Zgzip', '-z1'] : ['-Zxz', '-z1']
    const environment = { ...process.env, SOURCE_DATE_EPOCH: String(commitSeconds()) }
    const words = [...compression, '--root-owner-group', '--build', stage, join(dist, name)]
    show('dpkg-deb', words, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] })
    // reads all of the executable: half a minute
    if (!isLocal && isThere('lintian'))
      show('lintian', ['--allow-root', '--fail-on', 'error', join(dist, name)])
    return [name]
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

function stageFiles(stage, dist, arch) {
  put(stage, 'usr/bin/mesh', readFileSync(join(dist, `mesh-linux-${arch}`)), 0o755)
  for (const unit of readdirSync(join(root, 'packaging/systemd')))
    put(stage, `lib/systemd/system/${unit}`, readFileSync(join(root, 'packaging/systemd', unit)))
  put(stage, 'usr/lib/sysusers.d/mesh.conf', readFileSync(join(sources, 'mesh.sysusers')))
  for (const [shell, file] of Object.entries(COMPLETIONS))
    put(stage, file, output(process.execPath, [join(root, 'apps/node/dist/main.js'), 'completion', shell]))
  // root alone reads it: the token goes there
  mkdirSync(join(stage, 'etc/mesh'), { recursive: true })
  chmodSync(join(stage, 'etc/mesh'), 0o700)
}

function stageDocuments(stage, dist, version) {
  const date = new Date(commitSeconds() * 1_000)
  const pages = mkdtempSync(join(tmpdir(), 'mesh-man-'))
  try {
    const script = join(root, 'apps/node/src/docs/write-man-pages.ts')
    const words = ['--conditions=mesh-source', script, pages, date.toISOString().slice(0, 10)]
    output(process.execPath, words)
    for (const page of readdirSync(pages))
      put(stage, `usr/share/man/man1/${page}.gz`, zip(readFileSync(join(pages, page))))
  } finally {
    rmSync(pages, { recursive: true, force: true })
  }
  put(stage, `${DOCS}/copyright`, readFileSync(join(sources, 'copyright')))
  put(stage, `${DOCS}/changelog.gz`, zip(changelog(version, date)))
  put(stage, `${DOCS}/NEWS.md.gz`, zip(readFileSync(join(root, 'CHANGELOG.md'))))
  for (const name of [LICENSES, SBOM]) put(stage, `${DOCS}/${name}.gz`, zip(readFileSync(join(dist, name))))
  put(stage, 'usr/share/lintian/overrides/mesh', readFileSync(join(sources, 'lintian-overrides')))
}

/** Debian's form; what changed for people stands in CHANGELOG.md. */
function changelog(version, date) {
  const { maintainer } = /^Maintainer: (?<maintainer>.*)$/m.exec(
    readFileSync(join(sources, 'control'), 'utf8'),
  ).groups
  const time = date.toUTCString().replace('GMT', '+0000')
  return `mesh (${version}) unstable; urgency=medium\n\n  * /${DOCS}/NEWS.md.gz says what changed.\n\n -- ${maintainer}  ${time}\n`
}

function stageControl(stage, { version, architecture }) {
  const files = readdirSync(stage, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).toSorted()
  const kib = paths.reduce((sum, path) => sum + Math.ceil(statSync(path).size / 1024), 0)
  const sums = output(
    'md5sum',
    paths.map((path) => path.slice(stage.length + 1)),
    { cwd: stage },
  )
  const control = readFileSync(join(sources, 'control'), 'utf8')
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@SIZE@', String(kib))
  put(stage, 'DEBIAN/control', control)
  put(stage, 'DEBIAN/md5sums', sums)
  put(stage, 'DEBIAN/templates', readFileSync(join(sources, 'templates')))
  for (const script of SCRIPTS) put(stage, `DEBIAN/${script}`, readFileSync(join(sources, script)), 0o755)
}

const zip = (content) => gzipSync(content, { level: constants.Z_BEST_COMPRESSION })

/** With a mode that does not depend on the umask of this shell. */
function put(stage, path, content, mode = 0o644) {
  const file = join(stage, path)
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    mkdirSync(join(stage, folder), { recursive: true })
    chmodSync(join(stage, folder), 0o755)
  }
  writeFileSync(file, content)
  chmodSync(file, mode)
}
