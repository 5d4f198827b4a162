// A sweep under mouse and keyboard: a click or Enter on a row shows its setting at the lines.
import type { SweepAnswer } from '../../server/protocol/sweep';
import { sweepMarkup } from '../sweep_markup';

export class SweepSection {
  private shown: SweepAnswer | null = null;

  constructor(
    private readonly part: HTMLElement,
    private readonly choose: (sweep: string, setting: number, region: number) => void,
  ) {
    part.addEventListener('click', (event) => this.take(event.target));
    part.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.take(event.target);
    });
  }

  show(sweep: SweepAnswer): void {
    const isSame = this.shown?.sweep.id === sweep.sweep.id;
    this.shown = sweep;
    if (!isSame) this.part.innerHTML = sweepMarkup(sweep).text;
  }

  get markdown(): string {
    return this.shown?.markdown ?? '';
  }

  private take(target: EventTarget | null): void {
    const row = target instanceof Element ? target.closest<HTMLElement>('tr[data-setting]') : null;
    if (!row || !this.shown) return;
    for (const each of this.part.querySelectorAll('tr[aria-selected]')) each.removeAttribute('aria-selected');
    row.ariaSelected = 'true';
    this.choose(this.shown.sweep.id, Number(row.dataset.setting), Number(row.dataset.region));
  }
}
