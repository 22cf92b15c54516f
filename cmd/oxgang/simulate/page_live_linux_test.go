package simulate

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/serve"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A box is a scheduler of some slots of this machine, with real processes, and its page.
type box struct {
	*control.Client
	t     testing.TB
	state string
}

// newBox runs a scheduler that ends with the test, and its jobs with it.
func newBox(t testing.TB, slots int) *box {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := serve.DefaultOptions()
	o.Dir, o.Slots, o.Supervisor, o.Policy, o.Log = filepath.Join(t.TempDir(), "s"), slots, []string{self, "keeper"}, "fifo", io.Discard
	o.Round, o.Grace, o.Report, o.Quiet = time.Second, time.Second, step, step
	b := &box{t: t, Client: control.NewClient(serve.ControlSocket(o.Dir)), state: o.Dir}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	o.Ready = func() { close(ready) }
	go func() { done <- serve.Run(ctx, o) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.clear()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return b
}

// clear ends all jobs.
func (b *box) clear() {
	now, err := b.Status(context.Background(), false)
	if err != nil {
		b.t.Error(err)
	}
	for i := range now.Jobs {
		_ = b.Cancel(context.Background(), now.Jobs[i].ID) // it may have ended
	}
	b.await("the end of all jobs", func() bool {
		now, err := b.Status(context.Background(), false)
		return err == nil && len(now.Jobs) == 0
	})
}

// await waits until something holds.
func (b *box) await(what string, holds func() bool) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waited a minute for %s", what)
		}
	}
}

// train submits a program that trains for so many steps. Jobs of one name learn from each other.
func (b *box) train(name string, steps int) job.ID {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	r := control.NewRequest()
	r.Name, r.Command, r.Dir = name, []string{self, "trains", strconv.Itoa(steps)}, b.state
	r.Batch, r.Samples, r.RestartSeconds = batch, float64(batch*steps), 0
	id, err := b.Submit(b.t.Context(), &r)
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

func (b *box) view(id job.ID) status.Job {
	b.t.Helper()
	v, err := b.Job(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// ask asks the scheduler what would be if a job were cancelled.
func (b *box) ask(id job.ID) *whatif.Answer {
	b.t.Helper()
	text, err := b.Client.Ask(b.t.Context(), &control.Question{Cancel: id})
	a := new(whatif.Answer)
	if err == nil {
		err = json.Unmarshal(text, a)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func shiftOf(t *testing.T, a *whatif.Answer, id job.ID) whatif.Shift {
	t.Helper()
	for _, h := range a.Jobs {
		if h.Job == id {
			return h
		}
	}
	t.Fatalf("nothing of %s in %+v", id, a)
	return whatif.Shift{}
}

// ui runs "oxgang ui" until the test ends, and returns the address that it prints.
func (b *box) ui(args ...string) string {
	b.t.Helper()
	r, w := io.Pipe()
	cmd := UICommand()
	cmd.SetArgs(append([]string{"--state", b.state}, args...))
	cmd.SetOut(w)
	ctx, cancel := context.WithCancel(b.t.Context())
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	b.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
	})
	text := make([]byte, 1000)
	n, err := r.Read(text)
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(string(text[:n]))
}

// The page of a running scheduler answers what would happen if a job were cancelled; then the job is cancelled on
// the page, and this happens. The simulation disturbs no job and no estimate.
func TestBrowser_answers_and_cancels_live(t *testing.T) {
	ctx := browser.Open(t)
	b := newBox(t, 1)
	steps, work := [...]int{80, 60}, 0 // of those that wait
	long, next, last := b.train("train", 6000), b.train("train", steps[0]), b.train("train", steps[1])
	b.await("a speed", func() bool { v := b.view(long); return v.End.Known() && v.Progress > 10*batch })
	if v := b.view(next); v.GPUs != 0 {
		t.Fatalf("job %s runs: %+v", next, v)
	}
	var said, address string
	err := chromedp.Run(ctx, chromedp.Navigate(b.ui("--allow-cancel")), chromedp.WaitVisible(`body[data-ready="true"]`), chromedp.Location(&address),
		browser.Steady(chromedp.Click(show(long)[0], chromedp.ByQuery)), browser.Steady(chromedp.Click("#job .ask", chromedp.ByQuery)),
		chromedp.WaitVisible("#answer .sentence"), browser.Steady(chromedp.Text("#answer", &said)))
	if err != nil {
		t.Fatal(err)
	}
	browser.Accessible(ctx, t, "the page of a scheduler that runs")
	if strings.Contains(address, "act") || strings.Contains(address, "token") {
		t.Errorf("the token stands in the address %s", address)
	}
	if err := contains("If "+string(long)+" were cancelled", "2 jobs would end sooner, 0 later, and 0 at the same time", "2 jobs would get GPUs sooner, and 0 later", "Nothing was changed")(said); err != nil {
		t.Error(err)
	}
	if v := b.view(long); v.HasEnded() {
		t.Fatalf("a question ended the job: %+v", v)
	}
	a := b.ask(long)
	would := [...]whatif.Shift{shiftOf(t, a, next), shiftOf(t, a, last)}
	cancelOnPage(ctx, t, long)
	b.await("the end of the last", func() bool { v := b.view(last); return v.HasEnded() })
	for i, id := range []job.ID{next, last} {
		v, h := b.view(id), &would[i]
		early := a.From.Add(h.After.Early)
		t.Logf("%s was to get GPUs in %v to %v and did in %v, and to end in %v to %v and did in %v", id, h.WouldStart.Early, h.WouldStart.Late, v.Started.Sub(a.From), h.After.Early, h.After.Late, v.Finished.Sub(a.From))
		work += steps[i]
		least := time.Duration(work) * step * 9 / 10
		if v.Outcome != "done" || h.After.Early < least || early.Sub(v.Finished) > h.After.Late/2 {
			t.Errorf("%s: %s at %v, and %v of work at least are before its end; want %v to %v, or later on a busy machine", id, v.Outcome, v.Finished.Sub(a.From), least, h.After.Early, h.After.Late)
		}
	}
}

func cancelOnPage(ctx context.Context, t *testing.T, id job.ID) {
	t.Helper()
	var title string
	err := chromedp.Run(ctx,
		browser.Steady(chromedp.Click("#job .bad", chromedp.ByQuery)), chromedp.WaitVisible("#confirm"), chromedp.Text("#confirm-title", &title), chromedp.Click("#confirm-no"), chromedp.WaitNotVisible("#confirm"),
		browser.Steady(chromedp.Click("#job .bad", chromedp.ByQuery)), chromedp.WaitVisible("#confirm"), chromedp.Click("#confirm-yes"), chromedp.WaitNotVisible("#confirm"),
		chromedp.Poll(`document.getElementById("ended").innerText.includes("`+string(id)+` cancelled")`, nil, chromedp.WithPollingTimeout(time.Minute)))
	if err != nil || title != "Cancel "+string(id)+"?" {
		t.Fatalf("%q: %v", title, err)
	}
}

// BenchmarkPage_live says how soon Chromium shows the page of a scheduler with jobs that train and report, and what they report: see
// browser.Paints. The page is served by "oxgang ui", which asks once a second.
func BenchmarkPage_live(b *testing.B) {
	x := newBox(b, 4)
	for range 8 {
		x.train("train", 6000)
	}
	x.await("four that run", func() bool {
		now, err := x.Status(b.Context(), false)
		return err == nil && now.Queues[0].Running == 4
	})
	url := x.ui()
	for b.Loop() {
		ctx := browser.Open(b)
		const looks = 20
		browser.Watch(ctx, b, url, "#running", looks, func(int) {}).Report(b)
	}
}
