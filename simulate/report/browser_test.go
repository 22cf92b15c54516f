package report

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

func show(ctx context.Context, t *testing.T, page string, width int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	drawn := `["jct_cdf", "queue", "utilisation"].every((id) => document.querySelector("#" + id + " .curve") !== null)`
	if err := chromedp.Run(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path), chromedp.Poll(drawn, nil)); err != nil {
		t.Fatal(err)
	}
}

// asked returns what a script says in the page.
func asked[T any](ctx context.Context, t *testing.T, script string) (answer T) {
	t.Helper()
	if err := chromedp.Run(ctx, chromedp.Evaluate(script, &answer)); err != nil {
		t.Fatal(err)
	}
	return answer
}

// observedAnd returns a page of what happened and of three policies, of which the last is best over three seeds.
func observedAnd(t *testing.T) Input {
	t.Helper()
	runs := []Run{synthetic(t, "observed", 60, 1), synthetic(t, "sia", 60, 2), synthetic(t, "fifo", 60, 3), synthetic(t, "oxgang", 60, 4)}
	var trials []statistics.Trial
	for i := range runs[1:] {
		r := &runs[i+1]
		r.Policy = r.Name
		for seed := range uint64(3) {
			trial := Trial(r.Name, seed, r.Result)
			trial.Came = seed // synthetic runs draw jobs of their own
			trial.Measures[statistics.JCT] *= 1 + 0.1*float64(seed)
			if r.Name == "oxgang" {
				trial.Measures[statistics.JCT] *= 0.5 + 0.01*float64(seed)
			}
			trials = append(trials, trial)
		}
	}
	v := Verdict(trials, "fifo")
	if v.Best[statistics.JCT] != "oxgang" {
		t.Fatalf("verdict %q", v.Text())
	}
	for i := range runs {
		runs[i].Verdict = v
	}
	runs[0].Observed = true
	return Input{Title: "a page with a name that is rather long for a narrow window", Runs: runs}
}

// boxes returns what of a plot would be drawn over one another, or outside of it: labels of lines, and of each axis.
const boxes = `[...document.querySelectorAll("figure svg.plot")].flatMap((plot) => {
	const id = plot.closest("figure").id, card = plot.closest("figure").getBoundingClientRect();
	const texts = [...plot.querySelectorAll("text")].filter((t) => t.textContent).map((t) => ({ text: t.textContent, line: t.classList.contains("line-label"), box: t.getBoundingClientRect() }));
	const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
	const found = texts.filter((t) => t.box.left < card.left || t.box.right > card.right - 8).map((t) => id + ": outside: " + t.text);
	texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => { if (meet(a.box, b.box)) found.push(id + ": " + a.text + " over " + b.text); }));
	return found;
})`

// TestBrowser_reads_at_any_width: nothing is wider than the window but tables, which scroll; no label covers another, and each axis has one.
func TestBrowser_reads_at_any_width(t *testing.T) {
	ctx, page := browser.Open(t), html(t, observedAnd(t))
	for _, width := range []int64{390, 820, 1280, 2560} {
		show(ctx, t, page, width)
		if got := asked[float64](ctx, t, `document.documentElement.scrollWidth`); got > float64(width) {
			t.Errorf("%d px: the page is %v px wide", width, got)
		}
		if bare := asked[[]string](ctx, t, `[...document.querySelectorAll("figure svg.plot")].filter((p) => p.querySelector(".curve") && !(p.querySelector(".x-label")?.textContent && p.querySelector(".y-label")?.textContent)).map((p) => p.closest("figure").id)`); len(bare) > 0 {
			t.Errorf("%d px: an axis of %q has no label", width, bare)
		}
		if covered := asked[[]string](ctx, t, boxes); len(covered) > 0 {
			t.Errorf("%d px:\n%s", width, strings.Join(covered, "\n"))
		}
		if got := asked[int](ctx, t, `document.querySelectorAll("#jct_cdf .line-label").length`); width >= 820 && got < 2 {
			t.Errorf("%d px: %d lines have their name beside them, want most", width, got)
		}
		if got := asked[float64](ctx, t, `Math.min(...[...document.querySelectorAll("td, th, .verdict p")].map((e) => parseFloat(getComputedStyle(e).fontSize)))`); got < 12 {
			t.Errorf("%d px: letters of %v px, want at least 12", width, got)
		}
	}
}

// TestBrowser_tells_lines_apart without colours: no two have the same dashes, and what was observed has none; the legend is drawn
// so, too.
func TestBrowser_tells_lines_apart(t *testing.T) {
	ctx := browser.Open(t)
	show(ctx, t, html(t, observedAnd(t)), 1280)
	for _, of := range []string{"#jct_cdf .curve", "#queue .curve", "#utilisation .curve", "#jct_cdf .legend line"} {
		dashes := asked[[]string](ctx, t, `[...document.querySelectorAll("`+of+`")].map((p) => p.getAttribute("stroke-dasharray"))`)
		sorted := slices.Sorted(slices.Values(dashes))
		if len(slices.Compact(slices.Clone(sorted))) != 4 || len(dashes) != 4 || dashes[0] != "" {
			t.Errorf("%s: dashes %q, want four, the first without", of, dashes)
		}
	}
	overlap := asked[[]string](ctx, t, `["utilisation", "queue"].filter((id) => {
		const boxes = [...document.querySelectorAll("#" + id + " .curve")].map((p) => p.getBoundingClientRect());
		return boxes.some((b, i) => i > 0 && b.top < boxes[i - 1].bottom - 1);
	})`)
	if len(overlap) > 0 {
		t.Errorf("lines over time cross in %q, want one below the other", overlap)
	}
	if got := asked[string](ctx, t, `document.querySelector("#jct_cdf .curve").getAttribute("stroke")`); got != "var(--ink)" {
		t.Errorf("what was observed is drawn in %s", got)
	}
}

// TestBrowser_answers_first: the verdict is above the tables and plots, and in the first window.
func TestBrowser_answers_first(t *testing.T) {
	ctx, in := browser.Open(t), observedAnd(t)
	page := html(t, in)
	for _, width := range []int64{390, 1280} {
		show(ctx, t, page, width)
		text := asked[string](ctx, t, `document.querySelector(".verdict").innerText`)
		for _, sentence := range in.Runs[0].Verdict.Sentences {
			if !strings.Contains(text, sentence) {
				t.Errorf("%d px: the verdict is %q, want %q in it", width, text, sentence)
			}
		}
		above := asked[bool](ctx, t, `(() => { const v = document.querySelector(".verdict").getBoundingClientRect(), t = document.querySelector("table").getBoundingClientRect(); return v.bottom <= t.top && v.bottom < 900; })()`)
		if !above {
			t.Errorf("%d px: the verdict is not above the first table in the first window", width)
		}
		bold := asked[int](ctx, t, `[...document.querySelectorAll("td")].filter((c) => parseInt(getComputedStyle(c).fontWeight) >= 600).length`)
		if want := strings.Count(page, `class="best"`); bold != want || want == 0 {
			t.Errorf("%d px: %d cells are bold, want the %d that are best", width, bold, want)
		}
	}
}

// TestBrowser_one_table_first: a report opens with one table; the others unfold with the keyboard.
func TestBrowser_one_table_first(t *testing.T) {
	ctx := browser.Open(t)
	show(ctx, t, html(t, observedAnd(t)), 1280)
	visible := func() int {
		return asked[int](ctx, t, `[...document.querySelectorAll("table")].filter((e) => e.checkVisibility({contentVisibilityAuto: true})).length`)
	}
	before := visible()
	if err := chromedp.Run(ctx, chromedp.Focus("summary", chromedp.ByQuery), chromedp.KeyEvent("\r")); err != nil {
		t.Fatal(err)
	}
	if after := visible(); before != 1 || after != 2 {
		t.Errorf("%d tables, and %d after one is unfolded, want 1 and 2", before, after)
	}
	browser.Accessible(ctx, t, "a report")
}

// TestBrowser_timeline: the schedule is the timeline of the live page. It has a bar for each time with as many GPUs, of the chosen policy, as the data; it
// zooms, finds, and opens a job.
func TestBrowser_timeline(t *testing.T) {
	ctx, in := browser.Open(t), observedAnd(t)
	show(ctx, t, html(t, in), 1280)
	j := in.Runs[0].Result.Jobs[0]
	titles := func() []string {
		return asked[[]string](ctx, t, `[...document.querySelector("#timeline-rows a").parentElement.querySelectorAll("rect title")].map((e) => e.textContent)`)
	}
	held := func(all []string) (n int) {
		for _, text := range all {
			if strings.Contains(text, " GPU") {
				n++
			}
		}
		return n
	}
	if got, want := titles(), len(merged(j.Intervals, 0)); held(got) == 0 || held(got) > want || !strings.HasPrefix(got[0], string(j.ID)+": ") {
		t.Errorf("job %s has bars %q, want at most %d with GPUs", j.ID, got, want)
	}
	length := func() string { return asked[string](ctx, t, `document.getElementById("timeline-span").textContent`) }
	whole := length()
	if !strings.HasPrefix(whole, "60 jobs, ") {
		t.Errorf("the timeline has %s, want 60 jobs", whole)
	}
	browser.Accessible(ctx, t, "the timeline of a report")
	if err := chromedp.Run(ctx, chromedp.Focus("#timeline", chromedp.ByQuery), chromedp.KeyEvent("+")); err != nil || length() == whole {
		t.Errorf("%v: + does not zoom %s", err, whole)
	}
	if err := chromedp.Run(ctx, chromedp.KeyEvent("0"), chromedp.SendKeys("#timeline-find", string(j.ID), chromedp.ByQuery), chromedp.Click("#timeline-rows a", chromedp.ByQuery), chromedp.WaitVisible("#timeline-job", chromedp.ByQuery)); err != nil {
		t.Fatal(err)
	}
	if got := asked[string](ctx, t, `document.getElementById("timeline-job").innerText`); !strings.Contains(got, string(j.ID)) || !strings.Contains(got, "GPU-hours") {
		t.Errorf("the page of job %s is %q", j.ID, got)
	}
	before := titles()
	asked[string](ctx, t, `(() => { const s = document.querySelector("#timeline-bar select"); s.value = "2"; s.dispatchEvent(new Event("change")); return s.value; })()`)
	if after := titles(); slices.Equal(before, after) {
		t.Errorf("another policy has the same bars %q", after)
	}
}
