package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
)

// The timeline of a journal has what each job held at any time, as the overview of that time has it.
func TestRecorded_timeline(t *testing.T) {
	source := recorded(t)
	line, err := source.Timeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last, err := source.File.Last()
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for at := 90*time.Second + 500*time.Millisecond; at < last.At; at += 7 * time.Minute {
		then, err := explain.OverviewIn(source.File, at)
		if err != nil {
			t.Fatal(err)
		}
		want := map[job.ID]int{}
		for _, j := range then.Jobs {
			if want[j.ID] = 0; j.Holds != nil {
				want[j.ID] = j.Holds.GPUs
			}
		}
		got := heldAt(line, at)
		for id, gpus := range want {
			if held, known := got[id]; !known || held != gpus {
				t.Errorf("at %v %s holds %d, known %v, want %d", at, id, held, known, gpus)
			}
		}
		if len(got) != len(want) {
			t.Errorf("at %v there are %d jobs, want %d", at, len(got), len(want))
		}
		ended = len(line.Tracks) - len(got)
	}
	if ended == 0 || line.Until != whole(last.At) {
		t.Errorf("no job ended until %d, want some until %v", line.Until, last.At)
	}
}

// heldAt returns what each job holds that was submitted and has not ended.
func heldAt(line *status.Timeline, at time.Duration) map[job.ID]int {
	held := map[job.ID]int{}
	for i := range line.Tracks {
		own := &line.Tracks[i]
		for k, s := range own.Steps {
			if time.Duration(s.At)*time.Second > at {
				break
			}
			if held[own.Job] = s.GPUs; k == len(own.Steps)-1 && own.Ended() {
				delete(held, own.Job)
			}
		}
	}
	return held
}

// Ten thousand jobs that change all the time take a bounded number of bytes. Jobs that ended first are left out first and counted; of others the
// first step and the last ones stay.
func TestTracks_are_bounded(t *testing.T) {
	var all tracks
	const jobs, rounds = 10_000, 60
	for i := range jobs {
		all.step(job.ID(fmt.Sprintf("a-job-with-a-name-%d", i)), "a-user", status.Step{At: int64(i), What: status.Submitted})
	}
	for r := range rounds {
		for i := range jobs {
			id := job.ID(fmt.Sprintf("a-job-with-a-name-%d", i))
			switch last := all.last(id); {
			case last == nil || all.all[all.at[id]].Ended():
			case r == rounds-1 && i < jobs/2:
				all.step(id, "", status.Step{At: int64(jobs + r), What: status.Done})
			default:
				all.holds(id, "", time.Duration(jobs+r)*time.Second, 1+r%8)
			}
			if n := all.steps; n > mostSteps {
				t.Fatalf("%d steps, want %d at most", n, mostSteps)
			}
		}
	}
	line := all.timeline(time.Unix(0, 0), time.Hour)
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	z, err := packed(line)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for i := range line.Tracks {
		own := &line.Tracks[i]
		if steps += len(own.Steps); own.Steps[0].What != status.Submitted {
			t.Fatalf("%s begins with %v", own.Job, own.Steps[0])
		}
	}
	t.Logf("%d tracks of %d steps: %d bytes, %d packed", len(line.Tracks), steps, len(text), len(z))
	if len(line.Tracks)+line.Omitted != jobs || len(line.Tracks) < jobs/2 || steps != all.steps || len(text) > 5<<20 || len(z) > 1<<20 {
		t.Errorf("%d tracks and %d omitted, %d steps (%d counted), %d bytes, %d packed", len(line.Tracks), line.Omitted, steps, all.steps, len(text), len(z))
	}
	all = tracks{}
	for i := range 10 * mostOwnSteps {
		all.holds("one", "", time.Duration(i)*time.Second, 1+i%2)
	}
	if n := len(all.all[0].Steps); n > mostOwnSteps || all.steps != n || all.all[0].Steps[0].At != 0 || all.last("one").At != 10*mostOwnSteps-1 {
		t.Errorf("a job has %d steps, %d counted", n, all.steps)
	}
}

// A source without a journal records what it saw: submissions, starts, sizes, ends with their outcome, and nodes that close, leave or join.
func TestWatched_timeline(t *testing.T) {
	at, now := func(s int64) time.Time { return time.Unix(s, 0) }, &status.Status{}
	w := NewWatched(func(context.Context) (*status.Status, error) { return now, nil })
	looks := []status.Status{
		{At: at(100), Nodes: []status.Node{{Name: "n1"}, {Name: "n2"}}, Jobs: []status.Job{{ID: "a", User: "eve", Submitted: at(10), Since: at(40), GPUs: 2}, {ID: "b", Submitted: at(50)}}},
		{At: at(200), Nodes: []status.Node{{Name: "n1", Closed: "drained"}, {Name: "n3"}}, Jobs: []status.Job{{ID: "a", GPUs: 4}, {ID: "b"}}},
		{At: at(300), Nodes: []status.Node{{Name: "n1"}, {Name: "n3"}}, Jobs: []status.Job{{ID: "b", GPUs: 4}}, Ended: []status.Job{{ID: "a", Finished: at(290), Outcome: "failed"}}},
		{At: at(400), Nodes: []status.Node{{Name: "n1"}, {Name: "n3"}}},
	}
	for i := range looks {
		now = &looks[i]
		if err := w.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	line, err := w.Timeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Job(t.Context(), "a", 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("a job that ended long ago: %v", err)
	}
	now = &looks[2]
	if err := w.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if j, err := w.Job(t.Context(), "a", 0); err != nil || j.Job.Outcome != "failed" {
		t.Errorf("a job that failed: %+v, %v", j, err)
	}
	const want = `{"begun":"1970-01-01T00:00:00Z","until":400,"tracks":[` +
		`{"job":"a","user":"eve","steps":[{"at":10,"gpus":0,"what":"submitted"},{"at":40,"gpus":2,"what":"started"},{"at":200,"gpus":4,"what":"grown"},{"at":290,"gpus":0,"what":"failed"}]},` +
		`{"job":"b","steps":[{"at":50,"gpus":0,"what":"submitted"},{"at":300,"gpus":4,"what":"started"},{"at":400,"gpus":0,"what":"ended"}]}],` +
		`"nodes":[{"at":200,"node":"n1","what":"closed"},{"at":200,"node":"n3","what":"joined"},{"at":200,"node":"n2","what":"left"},{"at":300,"node":"n1","what":"opened"}]}`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// A job that one look of Slurm or Kubernetes lacks continues its track. A new job of the same name begins after the old one. Steps are in order of time.
func TestWatched_timeline_of_an_absent_job(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	one := func(submitted, since int64, gpus int) []status.Job {
		return []status.Job{{ID: "a", Phase: "running", GPUs: gpus, Nodes: []status.Share{{Node: "n", GPUs: gpus}}, Submitted: at(submitted), Since: at(since)}}
	}
	var now *status.Status
	w := NewWatched(func(context.Context) (*status.Status, error) { return now, nil })
	for _, s := range []*status.Status{
		{At: at(100), Jobs: one(10, 40, 2)},
		{At: at(200)},
		{At: at(300), Jobs: one(10, 40, 2)},
		{At: at(400)},
		{At: at(500), Jobs: one(10, 450, 4)},
		{At: at(600)},
		{At: at(700), Jobs: one(650, 0, 0)},
		{At: at(800), Ended: []status.Job{{ID: "a", Outcome: "done", Finished: at(690)}}},
	} {
		now = s
		if err := w.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	line, err := w.Timeline(t.Context())
	if err != nil || len(line.Tracks) != 1 {
		t.Fatal(line, err)
	}
	var got []string
	for _, s := range line.Tracks[0].Steps {
		got = append(got, fmt.Sprintf("%s %d at %d", s.What, s.GPUs, s.At))
	}
	if got, want := strings.Join(got, ", "), "submitted 0 at 10, started 2 at 40, grown 4 at 500, ended 0 at 600, submitted 0 at 650, done 0 at 690"; got != want {
		t.Errorf("steps: %s, want %s", got, want)
	}
}

// A browser that has the timeline does not get it again. Without cookie nobody gets it.
func TestServer_timeline(t *testing.T) {
	s, h := served(t, recorded(t))
	answer, text := get(t, s, h, "/api/timeline")
	var line status.Timeline
	if err := json.Unmarshal(text, &line); err != nil || len(line.Tracks) != 30 {
		t.Fatalf("%v: %s", err, text)
	}
	for cookie, want := range map[string]int{s.viewer: http.StatusNotModified, "x": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/api/timeline", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: s.cookie, Value: cookie})
		r.Header.Set("If-None-Match", answer.Header.Get("ETag"))
		again, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		again.Body.Close()
		if again.StatusCode != want {
			t.Errorf("cookie %s: status %d, want %d", cookie, again.StatusCode, want)
		}
	}
}

// A timed source has a past and a forecast.
type timed struct{ toy }

const evil = "<img src=x onerror=alert(1)>"

func (*timed) Timeline(context.Context) (*status.Timeline, error) {
	now := time.Now().Unix()
	return &status.Timeline{Begun: time.Unix(0, 0).UTC(), Until: now, Tracks: []status.Track{
		{Job: "runs", Steps: []status.Step{{At: now - 7200, What: status.Submitted}, {At: now - 3600, GPUs: 4, What: status.Started}, {At: now - 1800, GPUs: 8, What: status.Grown}}},
		{Job: evil, Steps: []status.Step{{At: now - 7200, What: status.Submitted}, {At: now - 6000, GPUs: 2, What: status.Started}, {At: now - 900, What: status.Failed}}},
	}, Nodes: []status.NodeChange{{At: now - 600, Node: "gpu-1", What: status.Closed}}}, nil
}

func (y *timed) Overview(context.Context, time.Duration) (*Overview, error) {
	now := time.Now()
	runs := status.Job{ID: "runs", Phase: "running", GPUs: 8, Since: now.Add(-30 * time.Minute), End: status.Range{Early: now.Add(30 * time.Minute), Likely: now.Add(time.Hour), Late: now.Add(2 * time.Hour)}}
	waits := status.Job{ID: "waits", Phase: "waiting", MinGPUs: 4, Submitted: now.Add(-10 * time.Minute), Start: status.Range{Early: now.Add(time.Hour), Likely: now.Add(time.Hour), Late: now.Add(time.Hour)}, End: status.Range{Likely: now.Add(90 * time.Minute), Late: now.Add(2 * time.Hour)}}
	waits.User, waits.Queue, waits.Name, waits.Sentence, runs.Trouble = evil, evil, evil, evil, evil
	failed := status.Job{ID: evil, Outcome: "failed", Finished: now.Add(-15 * time.Minute), Detail: evil}
	node := status.Node{Name: evil, Type: evil, GPUs: 8, Used: 8, Held: []status.Holder{{Job: evil, GPUs: 8}}, Closed: evil, Idle: evil, Cause: evil, Use: []status.Usage{{GPU: evil, Job: evil, Busy: new(0.25), Memory: status.Amount{Used: 3 << 30, Total: 16 << 30}, Celsius: 64, Watts: 402}, {GPU: "1"}}}
	return liveOverview(&status.Status{Title: evil, Policy: evil, At: now, Jobs: []status.Job{runs, waits}, Nodes: []status.Node{node}, Ended: []status.Job{failed}, Attention: []string{evil}, Notes: []string{evil}}), nil
}

// The timeline shows the past of each job, its forecast, now, failures, resizes and changes of nodes. A drag zooms, a click opens the job, keys
// zoom and move; names are text.
func TestBrowser_timeline(t *testing.T) {
	ctx := browser.Open(t)
	s, _ := served(t, new(timed))
	s.feed.look(t.Context())
	var list string
	count := func(what string) (n int) {
		does(ctx, t, chromedp.Evaluate("document.querySelectorAll(`#timeline-rows "+what+"`).length", &n))
		return n
	}
	does(ctx, t, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), chromedp.Evaluate(`[...document.querySelectorAll("#timeline title, #timeline-axis title")].map(e => e.textContent).join("\n")`, &list))
	for _, want := range []string{"runs: 4 GPUs, ", "runs: 8 GPUs, ", "runs: 8 GPUs, \u2248 ", "waits: 4 GPUs, \u2248 ", "waits: waiting, ", ": got more GPUs", ": failed", "node gpu-1 closed", evil + ": 2 GPUs, "} {
		if !strings.Contains(list, want) {
			t.Errorf("the timeline shows\n%s\nwant %q in it", list, want)
		}
	}
	if got := [3]int{count(".track"), count(".now"), count(".forecast")}; got != [3]int{3, 3, 2} {
		t.Errorf("rows, lines of now and forecasts: %v", got)
	}
	length := func() (text string) {
		does(ctx, t, chromedp.Text("#timeline-span", &text))
		return text
	}
	before := length()
	drags(ctx, t, 0.7, 0.8)
	if after := length(); after == before {
		t.Errorf("a drag from %s does not zoom", before)
	}
	does(ctx, t, chromedp.Focus("#timeline"), chromedp.KeyEvent("0"))
	if back := length(); back != before {
		t.Errorf("0 leads to %s, want %s", back, before)
	}
	for _, key := range []string{"+", "-", "\ue012"} {
		does(ctx, t, chromedp.KeyEvent(key))
		browser.Accessible(ctx, t, "timeline after "+key)
	}
	does(ctx, t, chromedp.KeyEvent("0"))
	drags(ctx, t, 0.5, 0.5)
	var title string
	does(ctx, t, chromedp.WaitVisible("#job-card"), chromedp.Poll(`location.hash === "#/job/runs"`, nil), chromedp.Text("#job", &title))
	var address string
	does(ctx, t, chromedp.Focus("#timeline"), chromedp.KeyEvent("+"), chromedp.Evaluate(`location.hash`, &address))
	if !strings.HasPrefix(address, "#/job/runs?at=") {
		t.Errorf("after a zoom the address is %s, want the moment in it", address)
	}
	does(ctx, t, chromedp.Click("#close"), chromedp.Focus(`#timeline-rows a[href="#/job/waits"]`), chromedp.KeyEvent("\r"), chromedp.Poll(`location.hash === "#/job/waits"`, nil))
}

// Names, users, types, reasons and errors that are markup are shown as text: in the header, tables, nodes, what needs somebody, timeline, and in
// the pages of a job and a node.
func TestBrowser_names_are_text(t *testing.T) {
	ctx := browser.Open(t)
	s, _ := served(t, new(timed))
	s.feed.look(t.Context())
	open, _, _ := strings.Cut(s.URL(), "?")
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready))
	for _, hash := range []string{"", "#/job/" + url.PathEscape(evil), "#/node/" + url.PathEscape(evil)} {
		var shows, markup int
		does(ctx, t, chromedp.Navigate("about:blank"), chromedp.Navigate(open+hash), chromedp.WaitVisible(ready), chromedp.Evaluate(`document.querySelectorAll("img, script:not([src])").length`, &markup),
			chromedp.Evaluate(`document.body.innerText.split("<img src=x").length - 1`, &shows))
		if markup > 0 || shows < 12 {
			t.Errorf("%s: %d elements from names, %d names shown", hash, markup, shows)
		}
	}
}

// drags presses the mouse in the first row at a share of its width, and releases it at another.
func drags(ctx context.Context, t *testing.T, from, to float64) {
	t.Helper()
	var box struct{ Left, Top, Width float64 }
	does(ctx, t, chromedp.ScrollIntoView("#timeline"), chromedp.Evaluate(`(() => { const r = document.querySelector("#timeline-rows .track svg").getBoundingClientRect(); return {Left: r.left, Top: r.top + 12, Width: r.width}; })()`, &box))
	mouse := func(kind input.MouseType, share float64) chromedp.Action {
		return chromedp.MouseEvent(kind, box.Left+share*box.Width, box.Top, chromedp.ButtonLeft, chromedp.ClickCount(1))
	}
	does(ctx, t, mouse(input.MousePressed, from), mouse(input.MouseMoved, to), mouse(input.MouseReleased, to))
}
