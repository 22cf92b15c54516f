package page

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

const (
	manyJobs    = 10_000
	manyViewers = 200
	viewed      = 60 * time.Second
	reports     = 30 // looks from one report of a job to the next
)

// A multitude is a live source with many jobs, of which some have reported whenever it is looked at.
type multitude struct{ toy }

func (m *multitude) Overview(context.Context, time.Duration) (*Overview, error) {
	n := int(m.looks.Add(1))
	jobs := make([]status.Job, manyJobs)
	for i := range jobs {
		j := status.Job{ID: job.ID(fmt.Sprintf("resnet-%d", i)), Phase: "waiting", Asked: "1 to 8 GPUs of any type, batch size 128 to 4096"}
		j.Sentence = fmt.Sprintf("resnet-%d waits: %d jobs are ahead of it, and it is not until the end of resnet-%d that there is room", i, i, i/2)
		if i < 2000 {
			j.Phase, j.GPUs, j.GPUType, j.Target = "running", 4, "a100", 1e6
			j.Progress = float64((n + i) / reports)
		}
		jobs[i] = j
	}
	nodes := make([]status.Node, 1000)
	for i := range nodes {
		held := []status.Holder{{Job: jobs[2*i].ID, GPUs: 4}, {Job: jobs[2*i+1].ID, GPUs: 4}}
		nodes[i] = status.Node{Name: fmt.Sprintf("gpu-%03d", i), Type: "a100", GPUs: 8, Used: 8, Held: held}
	}
	return liveOverview(&status.Status{Title: "many", At: time.Unix(int64(n), 0), Jobs: jobs, Nodes: nodes, GPUs: []status.GPUs{{Type: "a100", Total: 8000, Held: 8000}}}), nil
}

// BenchmarkServer_viewers says what two hundred viewers of ten thousand jobs cost, of which a thirtieth of those that run report each second:
// the part of a processor that this process takes for a minute, user and system. The viewers are another one.
func BenchmarkServer_viewers(b *testing.B) {
	s, _ := served(b, new(multitude))
	go s.watch(b.Context(), time.Second)
	for b.Loop() {
		c := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestViewers$", "-test.v")
		c.Env = append(os.Environ(), "OXGANG_VIEWERS="+s.URL())
		before := spent(b)
		out, err := c.CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		b.ReportMetric(100*(spent(b)-before).Seconds()/viewed.Seconds(), "%ofprocessor")
		b.Logf("%s", out)
	}
}

// spent returns the processor time of this process.
func spent(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestViewers is the process of the viewers.
func TestViewers(t *testing.T) {
	url := os.Getenv("OXGANG_VIEWERS")
	if url == "" {
		t.Skip("BenchmarkServer_viewers starts it")
	}
	ctx, stop := context.WithTimeout(t.Context(), viewed)
	defer stop()
	var all sync.WaitGroup
	seen := make([]int, manyViewers)
	for i := range seen {
		all.Go(func() { seen[i] = view(ctx, url) })
	}
	all.Wait()
	least, most := seen[0], seen[0]
	for _, n := range seen {
		least, most = min(least, n), max(most, n)
	}
	t.Logf("each viewer saw %d to %d overviews", least, most)
	if least < 2 {
		t.Error("a viewer saw no change")
	}
}

// view follows the page as a browser does, and returns how many overviews it read.
func view(ctx context.Context, url string) (n int) {
	jar, _ := cookiejar.New(nil)
	browser := http.Client{Jar: jar}
	read := func(path string, f func(io.Reader)) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		if err != nil {
			return
		}
		r.Header.Set("Accept-Encoding", "gzip") // and so it is not unpacked here
		if a, err := browser.Do(r); err == nil {
			defer a.Body.Close()
			f(a.Body)
		}
	}
	drain := func(body io.Reader) { _, _ = io.Copy(io.Discard, body) }
	read(url, drain)
	host, _, _ := strings.Cut(url, "?")
	read(host+"api/changes", func(body io.Reader) {
		for lines := bufio.NewScanner(body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data:") {
				n++
				read(host+"api/overview", drain)
			}
		}
	})
	return n
}
