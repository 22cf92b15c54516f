package browser

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Paints are times of a page in milliseconds: from loading to the first paint and to the first rows; from the
// cause of each change to the changed document and to its paint.
type Paints struct {
	First   float64   `json:"first"`
	Rows    float64   `json:"rows"`
	Changed []float64 `json:"changed"`
	Painted []float64 `json:"painted"`
}

const watching = `const paints = {first: 0, rows: 0, changed: [], painted: []}; let cause = 0;
new PerformanceObserver(l => l.getEntries().forEach(e => { if (e.name === "first-contentful-paint") paints.first = e.startTime; })).observe({type: "paint", buffered: true});
const Source = EventSource;
window.EventSource = class extends Source { constructor(u) { super(u); this.addEventListener("message", () => { cause ||= performance.now(); }); } };
addEventListener("input", () => { cause ||= performance.now(); }, true);
addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  const began = cause, at = performance.now();
  cause = 0;
  requestAnimationFrame(() => setTimeout(() => {
    if (!paints.rows && document.querySelector(%[1]q + " tr")) paints.rows = performance.now();
    if (began) { paints.changed.push(at - began); paints.painted.push(performance.now() - began); }
  }));
}).observe(document.querySelector(%[1]q), {childList: true}));
window.paints = paints;`

// Watch opens a page, changes its content several times, and returns its times. rows selects the jobs.
func Watch(ctx context.Context, t testing.TB, url, rows string, times int, change func(i int)) *Paints {
	t.Helper()
	does := func(actions ...chromedp.Action) {
		if err := chromedp.Run(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	does(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(fmt.Sprintf(watching, rows)).Do(ctx)
		return err
	}), chromedp.Navigate(url), chromedp.WaitVisible(`body[data-ready="true"]`), chromedp.Poll(`window.paints.rows > 0`, nil))
	does(chromedp.Evaluate(`paints.changed.length = paints.painted.length = 0`, nil))
	for i := range times {
		change(i)
		does(chromedp.Poll(fmt.Sprintf(`paints.painted.length > %d`, i), nil))
	}
	all := new(Paints)
	does(chromedp.Evaluate(`window.paints`, all))
	return all
}

// Report reports the medians.
func (p *Paints) Report(b *testing.B) {
	b.ReportMetric(p.First, "ms-first-paint")
	b.ReportMetric(p.Rows, "ms-jobs-painted")
	b.ReportMetric(median(p.Changed), "ms-update")
	b.ReportMetric(median(p.Painted), "ms-update-painted")
	b.ReportMetric(slices.Max(p.Changed), "ms-update-most")
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
