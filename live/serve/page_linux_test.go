package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/page"
)

// The page of a real scheduler answers what somebody on call asks: see docs/guide/on-call.md. One machine has no closed node, and here only one user.
func TestBrowser_answers_on_call(t *testing.T) {
	browser.Wanted(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(fakeSMI), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	o := options(t)
	o.Slots = 0
	s := start(t, o)
	s.ended(s.submit("fails", "sh", "-c", "echo CUDA out of memory; exit 3"))
	s.submit("holds", "sleep", "600")
	s.submit("trains", "sleep", "600")
	await(t, "a full machine", func() bool { return s.view("holds").Phase == "running" && s.view("trains").Phase == "running" })
	id := s.submit("late", "true")
	await(t, "what would help it", func() bool {
		e, err := s.Explain(t.Context(), id)
		return err == nil && strings.Contains(e.Text, "unblock")
	})
	await(t, "the use of both GPUs", func() bool {
		now, err := s.Status(t.Context(), false)
		return err == nil && len(now.Nodes[0].Use) == 2 && now.Nodes[0].Use[0].Job != "" && now.Nodes[0].Use[1].Job != ""
	})
	source := page.NewMachine(s.Client, JournalFolder(o.Dir))
	served, err := page.Listen(source, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	browser.Answers(t, served,
		browser.Question{Name: "is the cluster full?", At: "#sentence", Want: "All 2 GPUs are held and 1 job waits"},
		browser.Question{Name: "why does a job wait?", At: "#waiting", Want: "no GPU is free"},
		browser.Question{Name: "for how long does it wait?", At: "#waiting", Want: " s)"},
		browser.Question{Name: "how many GPUs does it want?", At: "#waiting", Want: "1 GPU\t"},
		browser.Question{Name: "when does it start?", Click: "#waiting a", At: "#job", Want: "unknown: "},
		browser.Question{Name: "what would help?", Click: "#waiting a", At: "#job", Want: "it would get 1 a100"},
		browser.Question{Name: "what holds the GPUs?", At: "#nodes", Want: "holds"},
		browser.Question{Name: "which job failed, and why?", At: "#attention", Want: "exit code 3"},
		browser.Question{Name: "what did it print?", Click: "#attention a[data-job=fails]", At: "#job pre", Want: "CUDA out of memory"},
		browser.Question{Name: "does a job leave its GPUs idle?", At: "#nodes", Want: "1 left idle"},
		browser.Question{Name: "does the scheduler answer?", At: "#facts", Want: "live \u00b7 "},
	)
}
