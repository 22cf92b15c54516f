package page

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/status"
)

func does(ctx context.Context, t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

const ready = `body[data-ready="true"]`

// A browser shows of each job of a recording what the journal says of it, at the time of the slider; a click on a
// job shows its life, and Close hides it.
func TestBrowser_shows_a_recording(t *testing.T) {
	ctx := browser.Open(t)
	source := recorded(t)
	s, _ := served(t, source)
	last, err := source.File.Last()
	if err != nil {
		t.Fatal(err)
	}
	var text, address string
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), chromedp.Text("main", &text), chromedp.Location(&address))
	if strings.Contains(address, "token") {
		t.Errorf("the token is still in the address: %s", address)
	}
	said(t, source, last.At/2, text)
	const early = 20 * time.Minute
	does(ctx, t, chromedp.Evaluate(fmt.Sprintf(`document.getElementById("time").value = %g; document.getElementById("time").dispatchEvent(new Event("input"))`, early.Seconds()), nil),
		chromedp.Poll(`document.getElementById("facts").textContent.includes("recorded, 20 min of")`, nil), chromedp.Sleep(wait), chromedp.Text("main", &text))
	first := said(t, source, early, text)
	var life string
	does(ctx, t, chromedp.Click(`//tbody//a[text()="`+string(first.ID)+`"]`))
	does(ctx, t, chromedp.WaitVisible("ol.life"), chromedp.Text("#job", &life))
	does(ctx, t, chromedp.Click("#close"), chromedp.WaitNotVisible("#job-card"))
	if !strings.Contains(life, "submitted, asking for") || !strings.Contains(life, string(first.ID)+" has been running on 2 rtx GPUs") {
		t.Errorf("no life of %s, or not its whole reason, in %s", first.ID, life)
	}
}

// wait is how long the page may take to show what it has got.
const wait = 300 * time.Millisecond

// said checks that a text has what the journal says of all jobs at a time, and returns the first job.
func said(t *testing.T, source *Recorded, at time.Duration, text string) *status.Job {
	t.Helper()
	overview, err := source.Overview(t.Context(), at)
	if err != nil || len(overview.Jobs) == 0 {
		t.Fatalf("%v, or no jobs", err)
	}
	for i := range overview.Jobs {
		j := &overview.Jobs[i]
		if !strings.Contains(text, string(j.ID)) || !strings.Contains(text, j.Brief) || len(strings.Fields(j.Brief)) > 12 {
			t.Errorf("at %v the page does not say of %s in 12 words: %s", at, j.ID, j.Brief)
		}
	}
	return &overview.Jobs[0]
}

// A browser shows another overview of a live source without being asked, and markup in names as text.
func TestBrowser_follows_a_live_source(t *testing.T) {
	ctx := browser.Open(t)
	source := &toy{}
	source.jobs.Store(&[]status.Job{{ID: "<img src=x onerror=alert(1)>", Phase: "waiting", Sentence: "the first reason"}})
	s, _ := served(t, source)
	go s.watch(t.Context(), 20*time.Millisecond)
	var markup, acts bool
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), chromedp.Poll(`document.body.innerText.includes("the first reason")`, nil),
		chromedp.Evaluate(`document.querySelector("tbody img") !== null`, &markup))
	if markup {
		t.Error("the name of a job became markup")
	}
	var life string
	does(ctx, t, chromedp.Click("tbody a"), chromedp.WaitVisible("ol.life"), chromedp.Text("ol.life", &life), chromedp.Evaluate(`document.querySelector("#job button") !== null`, &acts))
	if acts {
		t.Error("something can be asked or done where nobody answers")
	}
	if want := time.Unix(3600, 0).Format("3:04:05"); !strings.Contains(life, want) {
		t.Errorf("the life %q has no %s, an hour after its source began", life, want)
	}
	source.jobs.Store(&[]status.Job{{ID: "b", Phase: "running", GPUs: 2, GPUType: "t4", Sentence: "another reason", Since: time.Unix(1, 0)}})
	does(ctx, t, chromedp.Poll(`document.getElementById("running").innerText.includes("another reason")`, nil))
}

// A slow source takes its time for early moments.
type slow struct{ *Recorded }

func (s slow) Overview(ctx context.Context, at time.Duration) (*Overview, error) {
	if at > 0 && at < 30*time.Minute {
		time.Sleep(2 * wait)
	}
	return s.Recorded.Overview(ctx, at)
}

// Of two moves of the slider the second one is shown, also where the answer to the first takes longer.
func TestBrowser_shows_the_last_move(t *testing.T) {
	ctx := browser.Open(t)
	s, _ := served(t, slow{recorded(t)})
	move := func(minutes int) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`document.getElementById("time").value = %d; document.getElementById("time").dispatchEvent(new Event("input"))`, 60*minutes), nil)
	}
	var facts string
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), move(20), move(60), chromedp.Poll(`document.getElementById("facts").textContent.includes("recorded, 1 h of")`, nil),
		chromedp.Sleep(3*wait), chromedp.Text("#facts", &facts))
	if !strings.Contains(facts, "recorded, 1 h of") {
		t.Errorf("the page shows %q, want an hour", facts)
	}
}
