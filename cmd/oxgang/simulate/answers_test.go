package simulate

import (
	"testing"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/page"
)

// The page of a journal answers what somebody on call asks of a moment: see docs/guide/on-call.md. A journal has neither output nor measured GPUs,
// and the page states that. Here no job has failed. Live schedulers are asked in live/serve, live/kube/view and live/slurm/view.
func TestBrowser_answers_on_call(t *testing.T) {
	browser.Wanted(t)
	path, _ := crowded(t, "fifo", "1")
	source, done, err := pageSource(t.Context(), nil, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	served, err := page.Listen(source, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	browser.Answers(t, served,
		browser.Question{Name: "is the cluster full?", At: "#sentence", Want: "24 of 32 GPUs are held and 31 jobs wait"},
		browser.Question{Name: "why does a job wait?", At: "#waiting", Want: "fifo starts it only with all 12 GPUs"},
		browser.Question{Name: "for how long does it wait?", At: "#waiting", Want: " min"},
		browser.Question{Name: "what would help?", Click: "#waiting a", At: "#job", Want: "it would get 12 t4 GPUs on 3 nodes (8 are free now) if job deepspeech2-8 ended"},
		browser.Question{Name: "when does it start?", Click: "#waiting a", At: "#job", Want: "\u2248 in 40 min"},
		browser.Question{Name: "what holds the GPUs?", At: "#nodes", Want: "deepspeech2-8"},
		browser.Question{Name: "which job failed, and why?", At: "#attention", Want: "Nothing needs you."},
		browser.Question{Name: "what did it print?", Click: "#waiting a", At: "#job", Want: "a journal does not contain what programs print"},
		browser.Question{Name: "does a job leave its GPUs idle?", Click: "#running a", At: "#job", Want: "a journal does not contain it"},
		browser.Question{Name: "does the scheduler answer?", At: "#facts", Want: "recorded, 50 min of"},
	)
}
