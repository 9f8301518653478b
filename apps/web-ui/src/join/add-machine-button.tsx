import { Plus } from 'lucide-react'
import { Button } from '../parts/button.tsx'
import { useOpenDialog } from '../parts/frame-dialog.ts'
import { words } from '../words/en.ts'

type AddMachineButtonProps = Omit<React.ComponentProps<typeof Button>, 'onClick' | 'children'>

/** Opens the steps that bring another machine into the network. */
export function AddMachineButton(props: AddMachineButtonProps) {
  const openDialog = useOpenDialog()
  return (
    <Button {...props} onClick={() => openDialog('join')}>
      <Plus aria-hidden="true" />
      {words.actions.addMachine}
    </Button>
  )
}
