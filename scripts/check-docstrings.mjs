/**
 * The docstrings that users of the published packages read, as their declarations (`dist/*.d.ts`) have them: names in
 * backticks and links exist, and every number says its unit, in its name or in words. And those of all sources: each
 * begins as a sentence that can be read alone in a hover. Run after the build.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import ts from 'typescript'
import { publishedPackages } from './pack-packages.mjs'

const root = resolve(import.meta.dirname, '..')
/** A name of code, and not a word: `createLedger`, `PeerId`, `ready()`. */
const NAME = /^(?:[a-z][a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z_]\w*\(\))$/
/** A name that says what is counted or measured: `delayMs`, `maxBytes`, `packetsIn`, `port`. */
const UNIT_IN_NAME = [
  /(Ms|S|Seconds|Bytes|Bits|Count|Index|Port|Mtu|MTU|Status|Length|Version|Descriptor|Metric|Code)$/,
  /^(ms|seconds|bytes|index|port|mtu|status|length|version|descriptor|metric|code|count|window|mark)$/,
  /(entries|tombstones|packets|peers|connections|blocks|changes|sessions|turns|messages|nodes|ledgers)(In|Out)?$/i,
  /^bytes(In|Out)$|^eventsDropped$/,
]
const UNIT_IN_WORDS = [
  /\b(ms|milliseconds?|nanoseconds?|seconds?|minutes?|hours?|days?)\b/i,
  /\d (s|min|h|[KMG]i?B)\b|\bin s\b|\bUnix time\b/i,
  /\b(bytes?|bits?|packets?|entries|blocks?|peers?|members?|index|port|version|status)\b/i,
  /\b(number of|how many|counts? of|counted|length of|times)\b/i,
  /\bbetween 0 and 1\b|\b0 to \d/i,
]

const sources = []
for (const { folder } of publishedPackages().values()) {
  for (const path of globSync(`${folder}/dist/*.d.ts`, { cwd: root })) {
    const text = readFileSync(join(root, path), 'utf8')
    sources.push({
      label: `${folder.replace('packages/', '')}/${basename(path)}`,
      source: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true),
    })
  }
}

/** Begins with a clause of a sentence that stands elsewhere. */
const CLAUSE =
  /^(What|Whether|And|As|For|So|Then|But|Or|That|Until|Since|Because|Nor|Beyond|Without|With|Also|Not|To|Of|In|By|From|On|At|Into|Over|Under|Through)\b/
/** The fewest words that make a sentence; what stands in backticks or brackets counts as one. */
const MIN_WORDS = 4

/** The longest sentence, in words, and the longest comment, in lines without its examples. */
const [MAX_SENTENCE_WORDS, MAX_COMMENT_LINES] = [30, 12]

const known = new Set(Object.getOwnPropertyNames(globalThis))
for (const { source } of sources) collectNames(source)
const problems = []
/** Comments that are too long. Their number may only fall. */
const lengthy = []
const MOST_LENGTHY = 31
let docstrings = 0
let numbers = 0
for (const { label, source } of sources) visit(source, label)
for (const path of globSync('{apps,packages}/*/src/**/*.{ts,tsx}', { cwd: root }))
  if (!/\.test\.tsx?$/.test(path)) checkSentences(path)
for (const path of globSync('{apps,packages}/*/{src,native}/**/*.{ts,tsx,rs}', { cwd: root }))
  if (!/\.test\.tsx?$/.test(path)) checkLengths(path)
if (lengthy.length > MOST_LENGTHY) problems.push(...lengthy)
if (process.argv.includes('--lengthy')) for (const line of lengthy) console.log(line)
for (const line of new Set(problems)) console.log(line)
console.log(`${docstrings} docstrings, ${numbers} numbers, ${new Set(problems).size} complaints`)
process.exitCode = problems.length === 0 && docstrings > 0 ? 0 : 1

/** Every name that the declarations have; libraries' too, where they are spoken of in types. */
function collectNames(node) {
  if (ts.isIdentifier(node) || ts.isStringLiteral(node) || ts.isPrivateIdentifier(node)) known.add(node.text)
  ts.forEachChild(node, collectNames)
}

function visit(node, label) {
  // a schema's own descriptions stand in the OpenAPI document; its type is inferred and has none
  if (ts.isTypeReferenceNode(node) && /^(z|zod\w*)\./.test(node.typeName.getText())) return
  const where = `${label}: ${nameOf(node)}`
  for (const doc of node.jsDoc ?? []) {
    docstrings++
    checkNames(doc.getFullText(), where)
  }
  if (isNumeric(node)) {
    numbers++
    checkUnit(node, where)
  }
  ts.forEachChild(node, (child) => visit(child, label))
}

function checkNames(text, where) {
  const withoutExamples = text.replaceAll(/```[\s\S]*?```/g, '')
  const quoted = [...withoutExamples.matchAll(/`([^`\n]+)`|\{@link\s+([^}|\s]+)/g)].map(
    ([, code, link]) => link ?? code,
  )
  for (const name of quoted) {
    if (!NAME.test(name)) continue
    if (!known.has(name.replace(/\(\)$/, ''))) problems.push(`${where}: there is no \`${name}\``)
  }
}

/** Complains of docstrings of one source file that begin with no sentence. */
function checkSentences(path) {
  const text = readFileSync(join(root, path), 'utf8')
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const look = (node) => {
    for (const doc of node.jsDoc ?? []) {
      const words =
        ts
          .getTextOfJSDocComment(doc.comment)
          ?.split(/\n\s*\n/)[0]
          .replaceAll(/\s+/g, ' ')
          .trim() ?? ''
      const fault = words === '' ? undefined : faultOf(words)
      const line = source.getLineAndCharacterOfPosition(doc.pos).line + 1
      if (fault !== undefined) problems.push(`${path}:${line} ${fault}: ${words.slice(0, 60)}`)
    }
    ts.forEachChild(node, look)
  }
  look(source)
}

/** Every comment can be read in one go. */
function checkLengths(path) {
  const text = readFileSync(join(root, path), 'utf8')
  for (const { 0: comment, index } of text.matchAll(/\/\*[^]*?\*\/|(?:^[ \t]*\/\/[^\n]*\n)+/gm)) {
    const words = comment
      .replaceAll(/```[^]*?```/g, '')
      .replaceAll(/^[ \t]*(?:\/\*+|\*+\/|\*|\/\/[/!]?)[ \t]?/gm, '')
      .replace(/\*\/$/, '')
      .trim()
    const place = `${path}:${text.slice(0, index).split('\n').length}`
    const lines = words.split('\n').filter((line) => line.trim() !== '').length
    if (lines > MAX_COMMENT_LINES) lengthy.push(`${place} has ${lines} lines`)
    for (const sentence of words.split(/(?<=[.!?])\s+|\n\s*\n|\n\s*(?=[-@]|\d+\.)/)) {
      const count = sentence.replaceAll(/`[^`]*`/g, 'X').split(/\s+/).length
      if (count > MAX_SENTENCE_WORDS)
        lengthy.push(
          `${place} has a sentence of ${count} words: ${sentence.replaceAll(/\s+/g, ' ').slice(0, 50)}`,
        )
    }
  }
}

function faultOf(words) {
  if (/^[a-z]+[ ,.:;']/.test(words) || /^lib[a-z0-9]+\b/.test(words)) return 'begins in lower case'
  if (CLAUSE.test(words)) return 'begins with a clause'
  const count = words.replaceAll(/`[^`]*`|\([^)]*\)/g, 'X').split(' ').length
  return count < MIN_WORDS ? 'is no sentence' : undefined
}

/** A property or parameter that is a number, or may be. */
function isNumeric(node) {
  const isPlace = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isParameter(node)
  if (!isPlace || node.type === undefined) return false
  if (ts.isParameter(node) && ts.isFunctionTypeNode(node.parent)) return false
  const parts = ts.isUnionTypeNode(node.type) ? node.type.types : [node.type]
  return parts.some(({ kind }) => kind === ts.SyntaxKind.NumberKeyword)
}

function checkUnit(node, where) {
  if (UNIT_IN_NAME.some((unit) => unit.test(node.name.getText()))) return
  const own = ts.getJSDocCommentsAndTags(node).map((doc) => doc.getText())
  const ofParent = ts.isParameter(node)
    ? ts.getJSDocCommentsAndTags(node.parent).map((doc) => doc.getText())
    : []
  const words = [...own, ...ofParent].join('\n')
  if (UNIT_IN_WORDS.some((unit) => unit.test(words))) return
  problems.push(`${where} is a number without a unit`)
}

function nameOf(node) {
  const own = node.name?.getText?.() ?? ''
  for (let above = node.parent; above !== undefined; above = above.parent) {
    const name = above.name?.getText?.()
    if (name !== undefined) return own === '' ? name : `${name}.${own}`
  }
  return own
}
