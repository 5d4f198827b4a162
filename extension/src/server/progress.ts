// Progress that the server begins by itself, such as a script's own clean-up, as a notification with Cancel. The client would
// put it into the status bar, where it is cut and cannot be cancelled.
import { WorkDoneProgressCancelNotification, type LanguageClient, type Middleware } from 'vscode-languageclient/node';
import { showProgress, type ProgressNotification } from './notification';

/** The client's middleware; progress that the extension shows by itself is left to it. */
export function serverProgress(
  client: () => LanguageClient | undefined,
  isOurs: (token: string | number) => boolean,
): NonNullable<Middleware['handleWorkDoneProgress']> {
  const shown = new Map<string | number, ProgressNotification>();
  return (token, params, next) => {
    if (isOurs(token)) {
      next(token, params);
    } else if (params.kind === 'begin') {
      const cancel = (): void => void client()?.sendNotification(WorkDoneProgressCancelNotification.type, { token });
      shown.set(token, showProgress(params.title, cancel));
    } else {
      if (params.message) shown.get(token)?.report(params.message);
      if (params.kind === 'report') return;
      shown.get(token)?.end();
      shown.delete(token);
      next(token, params);
    }
  };
}
