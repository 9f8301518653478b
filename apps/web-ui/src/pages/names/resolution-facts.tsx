import type { NameResolutionView } from '@mesh/api-contract'
import { Link } from '@tanstack/react-router'
import { useNames } from '../../data/machines.tsx'
import { loserReasonInWords, ownerInWords, resolutionInWords } from '../../model/resolution-words.ts'
import { Copy } from '../../parts/copy.tsx'
import { PanelSection } from '../../parts/panel.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { spanInWords } from '../../model/time-words.ts'
import { shownName } from '../../model/shown-name.ts'
import page from '../page.module.css'
import css from './names.module.css'

/** Who answers for a name, with what, and why not the others that fit it. */
export function ResolutionFacts({ resolution }: { resolution: NameResolutionView }) {
  const name = useNames()
  const { tone, word, sentences } = resolutionInWords(resolution, name)
  const { Records, Source, Winner, Losers } = resolution
  return (
    <>
      <div role="status">
        <p>
          <StateMark tone={tone} word={word} />
        </p>
        <p className={css.sentence}>{sentences.join(' ')}</p>
      </div>
      {Records.length > 0 && (
        <PanelSection title="Answer">
          <ul className={css.found}>
            {Records.map(({ Name, Type, TTL, Value }) => (
              <li key={`${Name} ${Type} ${Value}`}>
                <span className={css.value}>
                  <b>{Type}</b> <Copy text={Value} what="value" mono wrap />
                </span>
                <span className={page.sub}>
                  {shownName(Name)}, kept {spanInWords(TTL * 1_000)}
                </span>
              </li>
            ))}
          </ul>
        </PanelSection>
      )}
      {Winner !== null && Source === 'pattern' && (
        <PanelSection title="Pattern that answers">
          <Claim name={Winner.Name} isPattern>
            of {ownerInWords(Winner.Owner, name)}
          </Claim>
        </PanelSection>
      )}
      {Losers.length > 0 && (
        <PanelSection title="Fit, too, and do not answer">
          <ul className={css.found}>
            {Losers.map(({ Name, Owner, Reason }) => (
              <li key={`${Name} ${Owner} ${Reason}`}>
                <Claim name={Name} isPattern={Reason !== 'later_claim'}>
                  of {ownerInWords(Owner, name)}. {loserReasonInWords(Reason)}
                </Claim>
              </li>
            ))}
          </ul>
        </PanelSection>
      )}
    </>
  )
}

interface ClaimProps {
  readonly name: string
  /** It has a row among the names. */
  readonly isPattern: boolean
  readonly children: React.ReactNode
}

function Claim({ name, isPattern, children }: ClaimProps) {
  return (
    <>
      {isPattern ? (
        <Link
          to="/names"
          search={({ q }) => ({ pattern: name, ...(q !== undefined && { q }) })}
          className={css.claim}
        >
          {shownName(name)}
        </Link>
      ) : (
        <span className={css.claim}>{shownName(name)}</span>
      )}
      <p className={page.sub}>{children}</p>
    </>
  )
}
