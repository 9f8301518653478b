/** States of what this node offers and connects to, in words for people. */
import type { NodeConnectionView, NodeFileView, NodeServiceView } from '@mesh/api-contract'
import type { StateInWords } from './state-tone.ts'
import { countInWords } from './rate-words.ts'
import { shownText } from './shown-name.ts'
import { sinceInWords } from './time-words.ts'

type NameOf = (id: string) => string

export function serviceState({ State, Owner }: NodeServiceView, name: NameOf): StateInWords {
  switch (State) {
    case 'checking':
      return { tone: 'announcing', word: 'checking', sentence: 'The node tries whether its target answers.' }
    case 'announcing':
      return { tone: 'announcing', word: 'announcing', sentence: 'Members hear of it in a moment.' }
    case 'announced':
      return Owner === null
        ? { tone: 'direct', word: 'offered', sentence: 'Members can connect to it.' }
        : {
            tone: 'direct',
            word: 'offered',
            detail: `beside ${name(Owner)}`,
            sentence: `${name(Owner)} offers it too. Each member connects to the nearest one that works.`,
          }
    case 'target down':
      return {
        tone: 'refused',
        word: 'target down',
        sentence:
          'Its target does not answer. It is withdrawn, and offered again as soon as the target answers.',
      }
  }
}

/** Tells how the target of a service does: since when it answers, or why it does not. */
export function healthInWords(
  { State, Since, LastError }: NodeServiceView,
  nowMs: number,
): string | undefined {
  if (State === 'target down') return LastError === null ? undefined : shownText(LastError)
  return Since === null ? undefined : `healthy since ${sinceInWords(Date.parse(Since), nowMs)}`
}

export function connectionState(
  { State, Provider, Providers, Path }: NodeConnectionView,
  name: NameOf,
): StateInWords {
  switch (State) {
    case 'waiting for a provider':
      return {
        tone: 'offline',
        word: 'waiting',
        detail: 'for a provider',
        sentence: 'No member that is online offers this service now.',
      }
    case 'connecting':
      return { tone: 'announcing', word: 'connecting', sentence: 'A way to the provider is being made.' }
    case 'connected':
      return {
        tone: Path === 'relayed' ? 'relayed' : 'direct',
        word: 'connected',
        detail: [Path ?? '', Providers > 1 ? `1 of ${countInWords(Providers)}` : '']
          .filter(Boolean)
          .join(', '),
        sentence: `What connects to the address reaches ${Provider === null ? 'the provider' : name(Provider)}.${
          Providers > 1 ? ' When that one fails, another provider takes over.' : ''
        }`,
      }
    case 'failed':
      return {
        tone: 'refused',
        word: 'failed',
        sentence: 'The provider cannot be reached; the node tries again.',
      }
  }
}

export function fileState({ State, Owner, LeftOut, LeftOutNames }: NodeFileView, name: NameOf): StateInWords {
  switch (State) {
    case 'announcing':
      return { tone: 'announcing', word: 'announcing', sentence: 'Members hear of it in a moment.' }
    case 'announced':
      return {
        tone: 'direct',
        word: 'offered',
        detail: LeftOut === 0 ? undefined : `${countInWords(LeftOut)} left out`,
        sentence:
          LeftOut === 0
            ? 'Members can fetch it.'
            : `Members can fetch it. ${countInWords(LeftOut)} left out: ${LeftOutNames.join('; ')}.`,
      }
    case 'name taken':
      return taken(Owner, name)
  }
}

/** True where the node chooses the port of an address, another one at each start. */
export function takesFreePort(address: string): boolean {
  return !address.startsWith('unix:') && /:0+$/.test(address.trim())
}

/** The address with a port that stays: `127.0.0.1:43121`, or an example where none is known yet. */
export function fixedAddress(address: string): string {
  return takesFreePort(address) ? address.trim().replace(/:0+$/, ':9000') : address
}

/** Prints a number of connections: `1 connection`, `3 connections`. */
export function connectionsInWords(count: number): string {
  return `${countInWords(count)} ${count === 1 ? 'connection' : 'connections'}`
}

function taken(owner: string | null, name: NameOf): StateInWords {
  const who = owner === null ? 'another member' : name(owner)
  return {
    tone: 'refused',
    word: 'name taken',
    detail: `by ${who}`,
    sentence: `The name belongs to ${who}. Offer yours under another one.`,
  }
}
