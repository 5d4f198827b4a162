// Traces from elsewhere: loaded by the server, shown in the details, and said to which file they belong.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { plain } from '../foreign';
import type { LoadAnswer } from '../server/protocol/results';

const CHOOSE = 'Choose Source File…';

export interface Loading {
  /** The client once the server is up; undefined if it does not start. */
  client: () => Promise<LanguageClient | undefined>;
  /** Shows the details of a run. */
  show: (run: string) => Promise<void>;
}

/** Asks for traces. */
export async function chooseTraces(): Promise<vscode.Uri[] | undefined> {
  return vscode.window.showOpenDialog({
    title: 'Show the times of Kineto traces at the regions of their source file',
    openLabel: 'Load',
    canSelectMany: true,
    filters: { 'Kineto traces': ['json', 'gz'] },
  });
}

/** Loads traces and opens the details; the answer is undefined while no server runs. */
export async function loadTraces(
  { client, show }: Loading,
  traces: readonly string[],
  sources: readonly string[] = [],
): Promise<LoadAnswer | undefined> {
  const running = await client();
  if (!running) return undefined;
  const answer = await running.sendRequest<LoadAnswer>('kinetoscope/load', { traces, sources });
  if (answer.run !== null) await show(answer.run);
  return answer;
}

/** Says what was loaded, and offers to choose the file where none has its regions. */
export async function tellLoaded(loading: Loading, traces: readonly string[], answer: LoadAnswer): Promise<void> {
  const isLoaded = answer.run !== null;
  const tell = isLoaded ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  const isUnplaced = isLoaded && answer.files?.length === 0;
  if ((await tell(plain(answer.message), ...(isUnplaced ? [CHOOSE] : []))) !== CHOOSE) return;
  await loadForSource(loading, traces);
}

/** Loads traces again, for a source file that a person chooses. */
export async function loadForSource(loading: Loading, traces: readonly string[]): Promise<LoadAnswer | undefined> {
  const source = await chooseSource();
  if (!source) return undefined;
  const answer = await loadTraces(loading, traces, [source.toString()]);
  if (answer) void tellLoaded(loading, traces, answer);
  return answer;
}

async function chooseSource(): Promise<vscode.Uri | undefined> {
  const title = 'The source file that was traced';
  return (await vscode.window.showOpenDialog({ title, openLabel: 'Choose', filters: { Python: ['py'] } }))?.[0];
}
