package simulate

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// An ofPage is a question that somebody has who looks at the page.
type ofPage struct {
	text   string
	clicks []string // on what, as CSS says it
	at     string   // where the answer stands
	right  func(said string) error
}

// mostClicks is how many clicks an answer may be away.
const mostClicks = 2

// Ten questions are answered within two clicks on the page of a journal. Right answers are taken from the
// journal itself.
func TestBrowser_answers_ten_questions(t *testing.T) {
	ctx := browser.Open(t)
	path, jobs := crowded(t, "oxgang", "5")
	s := pageServed(t, path)
	all := questions(t, path, jobs)
	if len(all) != 10 {
		t.Fatalf("%d questions, want 10", len(all))
	}
	for i, q := range all {
		if len(q.clicks) > mostClicks {
			t.Errorf("%s: %d clicks, want at most %d", q.text, len(q.clicks), mostClicks)
		}
		if i == 0 || !slices.Equal(q.clicks, all[i-1].clicks) {
			click(ctx, t, s.URL(), &q)
		}
		if err := q.right(read(ctx, t, &q)); err != nil {
			t.Errorf("%s: %v", q.text, err)
		}
		if q.right("") == nil {
			t.Errorf("%s: an empty page is an answer", q.text)
		}
	}
}

func pageServed(t *testing.T, path string) *page.Server {
	t.Helper()
	source, done, err := pageSource(t.Context(), &live.PageSource{}, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	s, err := page.Listen(source, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(t.Context()) }()
	return s
}

func click(ctx context.Context, t *testing.T, url string, q *ofPage) {
	t.Helper()
	actions := []chromedp.Action{chromedp.Navigate("about:blank"), chromedp.Navigate(url), chromedp.WaitVisible(`body[data-ready="true"]`)}
	for _, c := range q.clicks {
		actions = append(actions, chromedp.Click(c, chromedp.ByQuery))
	}
	if len(q.clicks) > 0 {
		actions = append(actions, chromedp.WaitVisible("ol.life"))
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatalf("%s: %v", q.text, err)
	}
}

// read returns what the page says where the answer stands, also to those who do not see it.
func read(ctx context.Context, t *testing.T, q *ofPage) (said string) {
	t.Helper()
	words := fmt.Sprintf(`[document.querySelector(%q).innerText, ...[...document.querySelectorAll(%q + " [aria-label]")].map(e => e.ariaLabel)].join("\n")`, q.at, q.at)
	if err := chromedp.Run(ctx, chromedp.Evaluate(words, &said)); err != nil {
		t.Fatalf("%s: %v", q.text, err)
	}
	return said
}

// contains returns a check of an answer that is right if it has all of some texts.
func contains(texts ...string) func(string) error {
	return func(said string) error {
		for _, want := range texts {
			if !strings.Contains(said, want) {
				return fmt.Errorf("the page says %q, want %q in it", said, want)
			}
		}
		return nil
	}
}

// questions returns the questions, about the moment that the page shows first: half way through the journal.
func questions(t *testing.T, path string, jobs []metrics.JobResult) []ofPage {
	t.Helper()
	f := opened(t, path)
	last, err := f.Last()
	if err != nil {
		t.Fatal(err)
	}
	at := last.At / 2
	then, err := explain.OverviewIn(f, at)
	if err != nil {
		t.Fatal(err)
	}
	waits, helped := helpable(t, path, then, at)
	robbed, took := loser(t, f, then)
	runs, life := dearest(t, f, then)
	return []ofPage{
		{"Why does a job wait?", nil, "#waiting", contains(string(waits.ID), brief(waits.ID, waits.Sentence))},
		{"Why does a job have what it has?", nil, "#running", contains(string(runs.ID), brief(runs.ID, runs.Sentence))},
		{"Which GPUs are idle?", nil, "#types", contains(idleOf(then)...)},
		{"Who is on which GPU?", nil, "#nodes", contains(holders(then)...)},
		{"How busy was the cluster?", nil, "#over", busy(t, f, jobs, last.At)},
		{"What ended last?", nil, "#ended", contains(string(then.Ended[0].Job), then.Ended[0].Outcome)},
		{"What would help it?", show(waits.ID), "#job", contains(helped.Unblock)},
		{"When did it go on?", show(waits.ID), "#job", contains(helped.Next)},
		{"Who took my GPUs?", show(robbed), "#job", contains(took)},
		{"What has it cost?", show(runs.ID), "#job", contains(fmt.Sprintf("%d restart", life.Totals.Restarts), strconv.FormatFloat(life.Totals.GPUHours, 'g', 3, 64)+" GPU-hours")},
	}
}

func show(id job.ID) []string { return []string{fmt.Sprintf(`main table a[data-job="%s"]`, id)} }

// opened opens a journal.
func opened(t *testing.T, path string) *journal.File {
	t.Helper()
	source, done, err := pageSource(t.Context(), &live.PageSource{}, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return source.(*page.Recorded).File
}

// helpable returns a job that waits and of which it is known what would help.
func helpable(t *testing.T, path string, then *explain.Overview, at time.Duration) (*explain.OverviewJob, *explain.Moment) {
	t.Helper()
	for i := range then.Jobs {
		if j := &then.Jobs[i]; j.Holds == nil {
			if s, _ := pageOf(t, path, j.ID, at); s.Moment.Unblock != "" && s.Moment.Next != "" {
				return j, s.Moment
			}
		}
	}
	t.Fatal("no job waits that can be helped")
	return nil, nil
}

// loser returns a job that lost GPUs, and the words that say to whom.
func loser(t *testing.T, f *journal.File, then *explain.Overview) (job.ID, string) {
	t.Helper()
	went := regexp.MustCompile(`\S+ (?:started on|moved to|got) .*GPUs?$`)
	for _, j := range then.Jobs {
		for _, c := range lifeOf(t, f, j.ID).Changes {
			if text := went.FindString(c.Text); text != "" {
				return j.ID, text
			}
		}
	}
	t.Fatal("no job lost GPUs to another one")
	return "", ""
}

// dearest returns the job that runs and took the most GPU-hours.
func dearest(t *testing.T, f *journal.File, then *explain.Overview) (most *explain.OverviewJob, life *explain.Story) {
	t.Helper()
	for i := range then.Jobs {
		j := &then.Jobs[i]
		if l := lifeOf(t, f, j.ID); j.Holds != nil && (life == nil || l.Totals.GPUHours > life.Totals.GPUHours) {
			most, life = j, l
		}
	}
	return most, life
}

func lifeOf(t *testing.T, f *journal.File, id job.ID) *explain.Story {
	t.Helper()
	life, err := explain.LifeIn(f, id)
	if err != nil {
		t.Fatal(err)
	}
	return life
}

// idleOf returns what the page has to say of each GPU type.
func idleOf(then *explain.Overview) (all []string) {
	held := map[string]int{}
	for _, n := range then.Nodes {
		for _, h := range n.Held {
			held[string(n.Type)] += h.GPUs
		}
	}
	for _, v := range then.Types {
		all = append(all, fmt.Sprintf("%s: %d of %d held", v.Type, held[string(v.Type)], v.GPUs))
	}
	return all
}

// holders returns what the page has to say of each GPU that a job holds.
func holders(then *explain.Overview) (all []string) {
	for _, n := range then.Nodes {
		for _, h := range n.Held {
			all = append(all, fmt.Sprintf("%s: %s on %s", h.Job, printable.Count(h.GPUs, "GPU"), n.ID))
		}
	}
	return all
}

// busy checks the mean number of GPUs held: it is the GPU-hours of all jobs, over the length of the recording.
func busy(t *testing.T, f *journal.File, jobs []metrics.JobResult, length time.Duration) func(string) error {
	t.Helper()
	hours := 0.0
	for i := range jobs {
		if id := jobs[i].ID; jobs[i].Submitted < length.Seconds() {
			hours += lifeOf(t, f, id).Totals.GPUHours
		}
	}
	mean := regexp.MustCompile(`held: \d+ at the end, at most \d+, mean ([\d.]+)`)
	return func(said string) error {
		m := mean.FindStringSubmatch(said)
		if m == nil {
			return fmt.Errorf("the page says %q, want the GPUs held", said)
		}
		if got, err := strconv.ParseFloat(m[1], 64); err != nil || math.Abs(got-hours/length.Hours()) > 0.01*got {
			return fmt.Errorf("the page says that %s GPUs were held in the mean, want %.3g", m[1], hours/length.Hours())
		}
		return nil
	}
}

// What would be is asked with one click more, and answered with what the simulation says: a job cancelled, another size, one more node.
func TestBrowser_answers_what_if(t *testing.T) {
	ctx := browser.Open(t)
	path, _ := crowded(t, "srtf", "5")
	f := opened(t, path)
	last, err := f.Last()
	if err != nil {
		t.Fatal(err)
	}
	then, err := explain.OverviewIn(f, last.At/2)
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := dearest(t, f, then)
	s := pageServed(t, path)
	size := `document.querySelector('#job input[type="number"]').value = "2"`
	for _, c := range []struct {
		heading, button string
		show            []string
		q               whatif.Question
	}{
		{"If " + string(runs.ID) + " were cancelled", "#job .ask", show(runs.ID), whatif.Question{Cancel: runs.ID}},
		{"If " + string(runs.ID) + " had 2 GPUs", "#job .ask + .ask", show(runs.ID), whatif.Question{Resize: runs.ID, GPUs: 2}},
		{"With one more node of t4", "#types .ask", nil, whatif.Question{Nodes: 1, Type: "t4"}},
	} {
		want, err := asking(f)(t.Context(), c.q, last.At/2)
		if err != nil {
			t.Fatal(err)
		}
		click(ctx, t, s.URL(), &ofPage{text: c.heading, clicks: c.show})
		if len(c.show) > 0 {
			if err := chromedp.Run(ctx, chromedp.Evaluate(size, nil)); err != nil {
				t.Fatal(err)
			}
		}
		var said string
		if err := chromedp.Run(ctx, chromedp.Click(c.button, chromedp.ByQuery), chromedp.WaitVisible("#answer .sentence"), chromedp.Text("#answer", &said)); err != nil {
			t.Fatalf("%s: %v", c.heading, err)
		}
		sums := fmt.Sprintf("would end sooner, %d later, and %d at the same time", want.Later, want.Same)
		if err := contains(c.heading, strconv.Itoa(want.Sooner)+" job", sums, "Nothing was changed")(said); err != nil {
			t.Error(err)
		}
		if want.Sooner+want.Later == 0 {
			t.Errorf("%s: no job would end at another time", c.heading)
		}
	}
}

// brief returns the reason in the words of a list.
func brief(id job.ID, sentence string) string {
	s := status.Status{Jobs: []status.Job{{ID: id, Sentence: sentence}}}
	s.Fill()
	return s.Jobs[0].Brief
}
