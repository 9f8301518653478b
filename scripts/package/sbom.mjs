/** `dist/mesh.cdx.json`, the parts of others as CycloneDX, and `dist/LICENSES.txt` with the texts of their licences. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitSeconds, root } from './commands.mjs'
import { componentsInside } from './components.mjs'

export const SBOM = 'mesh.cdx.json'
export const LICENSES = 'LICENSES.txt'

/** @returns the names of the files that it made in `dist` */
export function packageSbom(dist, options) {
  const components = componentsInside(options)
  writeFileSync(join(dist, SBOM), `${JSON.stringify(billOfMaterials(components), undefined, 2)}\n`)
  writeFileSync(join(dist, LICENSES), licenceTexts(components))
  return [SBOM, LICENSES]
}

function billOfMaterials(components) {
  const { version, license } = JSON.parse(readFileSync(join(root, 'apps/node/package.json'), 'utf8'))
  const parts = components.map(({ folder: _folder, ...component }) => component)
  const digest = createHash('sha256').update(version).update(JSON.stringify(parts)).digest('hex')
  const purl = `pkg:generic/mesh@${version}`
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    // of its content, so that two builds give the same
    serialNumber: `urn:uuid:${digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')}`,
    version: 1,
    metadata: {
      timestamp: new Date(commitSeconds() * 1_000).toISOString(),
      component: {
        type: 'application',
        name: 'mesh',
        version,
        purl,
        'bom-ref': purl,
        licenses: [{ license: { id: license } }],
      },
    },
    components: parts,
    dependencies: [{ ref: purl, dependsOn: parts.map((part) => part['bom-ref']) }],
  }
}

/** Each text once, below the names of all components that have it. */
function licenceTexts(components) {
  const byText = new Map()
  for (const component of components) {
    const title = `${component.purl.replace(/^pkg:/, '')} (${licenceOf(component)})`
    const texts = textsIn(component.folder)
    for (const text of texts.length > 0 ? texts : ['The package holds no text of its licence.'])
      byText.set(text, [...(byText.get(text) ?? []), title])
  }
  const own = readFileSync(join(root, 'LICENSE'), 'utf8').trim()
  const line = '='.repeat(80)
  const sections = [...byText].map(([text, titles]) => `${line}\n${titles.join('\n')}\n${line}\n\n${text}\n`)
  return `mesh is under the Apache License 2.0:\n\n${own}\n\nIt holds these parts of others:\n\n${sections.join('\n')}`
}

function licenceOf({ licenses }) {
  return (licenses ?? [])
    .map(({ expression, license }) => expression ?? license.id ?? license.name)
    .join(', ')
}

function textsIn(folder) {
  if (folder === undefined) return []
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() && /^(licen[cs]e|copying|copyright|notice)[^.]*(\.(md|txt))?$/i.test(entry.name),
  )
  return files
    .map(({ name }) => readFileSync(join(folder, name), 'utf8').trim())
    .filter((text) => text !== '')
}
