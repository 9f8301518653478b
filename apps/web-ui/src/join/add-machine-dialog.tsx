import * as Tabs from '@radix-ui/react-tabs'
import { useCreateInvite } from '../data/changes.ts'
import { useAdmission, useRead } from '../data/reads.ts'
import { type JoinCommands, joinCommands, TOKEN_FILE } from '../model/join-commands.ts'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/copy.tsx'
import { Dialog, FOCUS_FIRST } from '../parts/dialog.tsx'
import { fieldClasses } from '../parts/field.tsx'
import { words } from '../words/en.ts'
import { InviteCode, InviteForm } from './invite.tsx'
import css from './join.module.css'
import { JoinedMachines } from './joined-machines.tsx'

/** The steps that bring another machine into the network, and the machines that join meanwhile. */
export function AddMachineDialog({ onClose }: { onClose: () => void }) {
  const { data: admission } = useAdmission()
  const invite = useCreateInvite()
  const commands = useJoinCommands(invite.data?.Code)
  const needsInvite = (admission?.Administrators.length ?? 0) > 0
  return (
    <Dialog title={words.actions.addMachine} look="wide" stays onClose={onClose}>
      <ol className={css.steps}>
        {needsInvite && (
          <li>
            <h3>Make an invite</h3>
            {admission?.HoldsKey !== true ? (
              <p>
                Administrators decide who is in this network. Ask one of them for an invite; they make it with{' '}
                <Command text="mesh admin invite" />
              </p>
            ) : invite.data === undefined ? (
              <InviteForm create={invite} />
            ) : (
              <InviteCode invite={invite.data} />
            )}
          </li>
        )}
        <li>
          <h3>Copy the token of the network to the new machine</h3>
          <p>
            The page never shows the token, since everybody who has it can join. Type this on the new machine:
          </p>
          <Line text={commands.copyToken} />
        </li>
        <li>
          <h3>Start mesh there</h3>
          <Systems commands={commands} />
        </li>
      </ol>
      <JoinedMachines />
      <div className={fieldClasses.actions}>
        <Button {...FOCUS_FIRST} onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}

function Systems({ commands }: { commands: JoinCommands }) {
  return (
    <Tabs.Root defaultValue="linux">
      <Tabs.List className={css.tabs} aria-label="System of the new machine">
        <Tabs.Trigger value="linux">Linux</Tabs.Trigger>
        <Tabs.Trigger value="container">Container</Tabs.Trigger>
        <Tabs.Trigger value="other">Other</Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="linux" className={css.tab}>
        <Line text={commands.linux} />
        <p className={css.hint}>
          The machine gets an address of the VPN: this needs root or CAP_NET_ADMIN. Its own page is at
          http://127.0.0.1:8080. Its programs find the names of the network with{' '}
          <code>--dns 127.0.0.1:53 --dns-configure</code>.
        </p>
      </Tabs.Content>
      <Tabs.Content value="container" className={css.tab}>
        <Line text={commands.container} />
        <p className={css.hint}>
          With the image of mesh, in the folder of {TOKEN_FILE}. Podman takes the same words. Everybody who
          may inspect the container can read the token.
        </p>
      </Tabs.Content>
      <Tabs.Content value="other" className={css.tab}>
        <Line text={commands.other} />
        <p className={css.hint}>
          On macOS, on Windows, and on Linux without root: names, services, files and the page, without the
          VPN.
        </p>
      </Tabs.Content>
    </Tabs.Root>
  )
}

function Line({ text }: { text: string }) {
  return (
    <div className={css.code}>
      <Command text={text} />
    </div>
  )
}

function useJoinCommands(invite: string | undefined): JoinCommands {
  const { data: reachability } = useRead('getReachability', {})
  const { data: settings } = useRead('listSettings', {})
  const valueOf = (name: string) => settings?.find(({ Name }) => Name === name)?.Value
  return joinCommands({
    tokenFile: valueOf('token-file') || undefined,
    addresses: reachability?.Addresses ?? [],
    isPrivate: valueOf('private') === 'on',
    invite,
  })
}
