import { Component, type ReactNode } from 'react';
import { ProblemNote } from '../parts/ProblemNote.tsx';

/** A page that fails says so; the rest of the console stays. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <ProblemNote error={error} onRetry={() => this.setState({ error: null })} />;
  }
}
