/** Reads the little that a router's XML says, within bounds: no document type, few elements, none of them deep. Pure. */
import xml from 'sax'
import { MAX_UPNP_DEPTH, MAX_UPNP_ELEMENTS } from '../limits.ts'

export interface XmlElement {
  /** The name without the prefix of its namespace. */
  readonly name: string
  readonly text: string
  readonly children: readonly XmlElement[]
}

/**
 * Declarations: of the document's type, of entities, or none that there is. sax 1.6.1 makes one text more of each character of
 * such a one: 128 KiB of it take a minute and a half.
 */
const DECLARATION = /<!(?!--|\[CDATA\[)/

/** Undefined: it is not well-formed, has a declaration, or is over the bounds. */
export function parseXml(text: string): XmlElement | undefined {
  const references = text.split('&').length - 1
  if (DECLARATION.test(text) || references > MAX_UPNP_ELEMENTS) return undefined
  const sax = xml.parser(true, { position: false })
  const open: { name: string; text: string; children: XmlElement[] }[] = []
  let root: XmlElement | undefined
  let elements = 0
  const refuse = () => {
    throw new Error('no XML of a router')
  }
  sax.onerror = refuse
  sax.onopentagstart = () => {
    if (++elements > MAX_UPNP_ELEMENTS || open.length >= MAX_UPNP_DEPTH) refuse()
  }
  sax.onattribute = () => {
    if (++elements > MAX_UPNP_ELEMENTS) refuse()
  }
  sax.onopentag = ({ name }) => {
    const element = { name: name.slice(name.indexOf(':') + 1), text: '', children: [] }
    const above = open.at(-1)
    if (above === undefined) root = element
    else above.children.push(element)
    open.push(element)
  }
  sax.ontext = sax.oncdata = (part) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += part
  }
  sax.onclosetag = () => void open.pop()
  try {
    sax.write(text).close()
    return root
  } catch {
    return undefined
  }
}

/** All elements of a name, wherever they stand. */
export function elementsOf(root: XmlElement, name: string): readonly XmlElement[] {
  // bounded in depth by the reader
  return [...(root.name === name ? [root] : []), ...root.children.flatMap((child) => elementsOf(child, name))]
}

/** The text of the first element of a name, without white space around it. */
export function textOf(root: XmlElement, name: string): string | undefined {
  return elementsOf(root, name)[0]?.text.trim()
}
