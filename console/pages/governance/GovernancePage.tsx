import { Policies } from './Policies.tsx';
import { ReviewSection } from './ReviewSection.tsx';
import { SeeAs } from './SeeAs.tsx';
import { Tags } from './Tags.tsx';

/** Who sees what, and what is doubtful. */
export default function GovernancePage({ workbookId }: { workbookId: string }) {
  return (
    <div className="page">
      <Tags workbookId={workbookId} />
      <Policies workbookId={workbookId} />
      <SeeAs workbookId={workbookId} />
      <ReviewSection workbookId={workbookId} />
    </div>
  );
}
