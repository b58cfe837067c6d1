import { Branches } from './Branches.tsx';
import { ConflictQueue } from './ConflictQueue.tsx';
import { ExportStep } from './ExportStep.tsx';
import { MergeStep } from './MergeStep.tsx';

/** Out to Excel, back again, and through what both sides changed. */
export default function RoundTripPage({ workbookId }: { workbookId: string }) {
  return (
    <div className="page">
      <ExportStep workbookId={workbookId} />
      <MergeStep workbookId={workbookId} />
      <ConflictQueue workbookId={workbookId} />
      <Branches workbookId={workbookId} />
    </div>
  );
}
