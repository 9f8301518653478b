import { machineCommands } from '../../model/commands.ts'
import { Command } from '../../parts/copy.tsx'
import { Facts, PanelSection } from '../../parts/panel.tsx'

/** Commands that use the machine from this one. @param place an address of it */
export function MachineCommands({ place }: { place: string }) {
  const { ssh, http } = machineCommands(place)
  return (
    <PanelSection title="Use it">
      <Facts
        facts={[
          ['SSH', <Command key="ssh" text={ssh} />],
          ['HTTP', <Command key="http" text={http} />],
        ]}
      />
    </PanelSection>
  )
}
